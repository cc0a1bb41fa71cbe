"""Tests of allreckon.py; run by CTest with the library of the build."""

import contextlib
import io
import json
import pathlib
import threading
import unittest

import allreckon

RING = dict(cluster="abci-v100", trace="resnet50-v1.5", gpus=64, algorithm="ring")


class Predictions(unittest.TestCase):
    def test_a_row_has_types_and_attributes(self):
        row = allreckon.predict(**RING)
        self.assertIsInstance(row.iteration_s, float)
        self.assertEqual(row["gpus"], 64)
        self.assertIsInstance(row.gpus, int)
        self.assertIsInstance(row.exact, bool)
        self.assertEqual(row.algorithm, "ring")
        self.assertIsNone(row.mfu_frac)
        self.assertTrue(any("ideal" in note or "framework" in note for note in row.notes), row.notes)
        with self.assertRaisesRegex(AttributeError, "no column 'iteration'"):
            row.iteration

    def test_a_workload_is_laid_out(self):
        row = allreckon.predict(cluster="dgx-h100", workload="llama3-70b", mesh="dp=8,tp=8", global_batch=64,
                                sequence_parallel=True)
        self.assertEqual(row.gpus, 64)
        self.assertTrue(0 < row.mfu_frac < 1)
        self.assertGreater(row.memory_bytes, 0)

    def test_settings_repeat(self):
        slow = allreckon.predict(**RING, set={"hca.bandwidth": "1GB/s", "net.latency": "50us"})
        also = allreckon.predict(**RING, set=["hca.bandwidth=1GB/s", "net.latency=50us"])
        self.assertEqual(slow.iteration_s, also.iteration_s)
        self.assertGreater(slow.iteration_s, allreckon.predict(**RING).iteration_s)

    def test_errors_are_the_line_and_the_code(self):
        with self.assertRaisesRegex(allreckon.Error, "abci-v10") as caught:
            allreckon.predict(**{**RING, "cluster": "abci-v10"})
        self.assertEqual(caught.exception.code, 66)
        with self.assertRaisesRegex(allreckon.Error, 'did you mean "gpus"'):
            allreckon.predict(gpu=3)

    def test_a_sweep_is_the_product_of_its_lists(self):
        rows = allreckon.sweep(**{**RING, "gpus": [16, 64], "algorithm": ["ring", "torus2d"]})
        self.assertEqual([(row.gpus, row.algorithm) for row in rows],
                         [(16, "ring"), (16, "torus2d"), (64, "ring"), (64, "torus2d")])
        self.assertEqual(rows[2], allreckon.predict(**RING) | {"wall_s": rows[2].wall_s})
        bad = {**RING, "gpus": [16, 0]}
        self.assertEqual(len(allreckon.sweep(skip_errors=True, **bad)), 1)
        with self.assertRaises(allreckon.Error):
            allreckon.sweep(**bad)

    def test_threads_get_what_one_gets(self):
        alone = allreckon.predict(**RING).iteration_s
        found = []
        threads = [threading.Thread(target=lambda: found.append(allreckon.predict(**RING).iteration_s))
                   for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [alone] * 8)

    def test_the_wheel_has_the_release_of_the_library(self):
        project = pathlib.Path(__file__).with_name("pyproject.toml").read_text()
        self.assertIn('version = "%s"' % allreckon.__version__, project)

    def test_cells_of_the_notebook_run_one_after_the_other(self):
        cells = json.loads(pathlib.Path(__file__).with_name("allreckon.ipynb").read_text())["cells"]
        names, printed = {}, io.StringIO()
        with contextlib.redirect_stdout(printed):
            for cell in cells:
                if cell["cell_type"] == "code":
                    self.assertEqual(cell["outputs"], [], "outputs are not kept: they would grow old")
                    exec("".join(cell["source"]), names)
        self.assertGreater(names["percent"][1024, "torus2d"], names["percent"][1024, "ring"])
        self.assertIn('66 --cluster: unknown cluster "dgx-h10"', printed.getvalue())

    def test_docstrings_are_the_tables(self):
        self.assertIn("cluster: ", allreckon.predict.__doc__)
        self.assertIn("iteration_s: ", allreckon.Row.__doc__)
        self.assertEqual(set(allreckon.predict(**RING)), set(allreckon.columns()))


if __name__ == "__main__":
    unittest.main()
