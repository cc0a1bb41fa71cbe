"""Predictions of Allreckon from Python: liballreckon by ctypes, nothing to compile.

    import allreckon
    row = allreckon.predict(cluster="dgx-h100", workload="llama3-70b", mesh="dp=64,tp=8", global_batch=1024)
    row.iteration_s, row.mfu_frac, row.notes
    rows = allreckon.sweep(cluster="abci-v100", trace="resnet50-v1.5", gpus=[64, 256], algorithm=["ring", "torus2d"])
    pandas.DataFrame(rows)

Keys are the options of the command line without their dashes, with underscores; values are their texts, with units
("1MiB"), or numbers where the option takes one. Columns are explained by `help(allreckon.Row)`; times are in seconds.
"""

import concurrent.futures
import ctypes
import itertools
import math
import os

__all__ = ["Error", "Row", "predict", "sweep", "keys", "columns", "__version__"]


def _load():
    """The library: that of $ALLRECKON_LIBRARY, or the installed one."""
    library = ctypes.CDLL(os.environ.get("ALLRECKON_LIBRARY", "liballreckon.so.0"))
    for name, result, arguments in (
        ("version", ctypes.c_char_p, []),
        ("create", ctypes.c_void_p, []),
        ("destroy", None, [ctypes.c_void_p]),
        ("set", ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]),
        ("run", ctypes.c_int, [ctypes.c_void_p]),
        ("error", ctypes.c_char_p, [ctypes.c_void_p]),
        ("notes", ctypes.c_char_p, [ctypes.c_void_p]),
        ("number", ctypes.c_double, [ctypes.c_void_p, ctypes.c_char_p]),
        ("text", ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_char_p]),
        ("key", ctypes.c_char_p, [ctypes.c_size_t]),
        ("key_help", ctypes.c_char_p, [ctypes.c_size_t]),
        ("column", ctypes.c_char_p, [ctypes.c_size_t]),
        ("column_help", ctypes.c_char_p, [ctypes.c_size_t]),
        ("column_type", ctypes.c_char, [ctypes.c_size_t]),
        ("key_repeats", ctypes.c_int, [ctypes.c_size_t]),
    ):
        function = getattr(library, "allreckon_" + name)
        function.restype, function.argtypes = result, arguments
    return library


_library = _load()
__version__ = _library.allreckon_version().decode()


def _table(name, help_name):
    """What the library lists by number: {name: (number, help)}."""
    found = {}
    for number in itertools.count():
        text = getattr(_library, name)(number)
        if text is None:
            return found
        help_text = getattr(_library, help_name)(number).decode()
        found[text.decode().replace("-", "_")] = (number, help_text)


_keys = _table("allreckon_key", "allreckon_key_help")
_columns = _table("allreckon_column", "allreckon_column_help")
_types = {name: _library.allreckon_column_type(number) for name, (number, _) in _columns.items()}
# Keys whose texts all count, so that a list of values is one prediction and not an axis of a sweep.
_repeated = tuple(name for name, (number, _) in _keys.items() if _library.allreckon_key_repeats(number))


def _list(table):
    return "\n".join("    %s: %s" % (name, text) for name, (_, text) in table.items())


def keys():
    """{key: what it is} of all keys of predict() and sweep()."""
    return {name: text for name, (_, text) in _keys.items()}


def columns():
    """{column: what it is} of all columns of a row."""
    return {name: text for name, (_, text) in _columns.items()}


class Error(Exception):
    """A prediction that cannot be made: one line that says where, what was found and what was expected.

    code: the exit code that the command line would have (64 usage, 65 bad data, 66 no such file, 71 no memory).
    """

    def __init__(self, text, code):
        super().__init__(text)
        self.code = code


class Row(dict):
    def __init__(self, values, notes):
        super().__init__(values)
        self.notes = notes

    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError("a row has no column %r; allreckon.columns() has their names" % name)


Row.__doc__ = """A prediction: {column: value}; columns are attributes, too.

A value is a str, float, int or bool, and None where the column does not apply.
notes: lines for a reader: defaults that decide the result, effects that are left out.

Columns:
""" + _list(_columns)


def _texts(key, value):
    """The texts of a key: several of one that repeats, else one."""
    if key in _repeated and isinstance(value, dict):
        return ["%s=%s" % pair for pair in value.items()]
    if key in _repeated and isinstance(value, (list, tuple)):
        return [str(one) for one in value]
    if isinstance(value, bool):
        return ["yes" if value else "no"]
    return [str(value)]


def _value(prediction, name):
    if _types[name] == b"t":
        return _library.allreckon_text(prediction, name.encode()).decode() or None
    number = _library.allreckon_number(prediction, name.encode())
    if math.isnan(number):
        return None
    return {b"n": float, b"c": int, b"f": bool}[_types[name]](number)


def predict(**values):
    prediction = _library.allreckon_create()
    if prediction is None:
        raise MemoryError("no memory for a prediction")
    try:
        for key, value in values.items():
            for text in _texts(key, value) if value is not None else []:
                code = _library.allreckon_set(prediction, key.encode(), text.encode())
                if code != 0:
                    raise Error(_library.allreckon_error(prediction).decode(), code)
        code = _library.allreckon_run(prediction)  # other threads run meanwhile
        if code != 0:
            raise Error(_library.allreckon_error(prediction).decode(), code)
        row = {name: _value(prediction, name) for name in _columns}
        notes = _library.allreckon_notes(prediction).decode().splitlines()
        return Row(row, [note.removeprefix("allreckon: note: ") for note in notes])
    finally:
        _library.allreckon_destroy(prediction)


predict.__doc__ = """Predicts one training step, or with `payload` one collective; returns a Row.

A list, or a dict of KEY: VALUE, gives several values to keys that may be repeated (set, term, straggler, slow_link,
down_link). A value None is as if the key were not given. Raises Error.

Keys:
""" + _list(_keys)


def sweep(jobs=None, skip_errors=False, **values):
    """Predicts all combinations of values that are lists; returns a list of Rows, the last key varying fastest.

    Keys are those of predict(). jobs: threads; None: one for each processor. skip_errors: leave out combinations that
    cannot be predicted, such as a grid that does not divide the GPUs, in place of raising the Error of the first one.
    """
    axes = {
        key: value if isinstance(value, (list, tuple, range)) and key not in _repeated else [value]
        for key, value in values.items()
    }

    def run(point):
        try:
            return predict(**dict(zip(axes, point)))
        except Error:
            if not skip_errors:
                raise
            return None

    with concurrent.futures.ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        return [row for row in pool.map(run, itertools.product(*axes.values())) if row is not None]
