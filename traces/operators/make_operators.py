#!/usr/bin/env python3
"""Writes a graph of operators to standard output: inception-v3 (Szegedy et al., arXiv:1512.00567, as torchvision builds it, from memory; a branch
of a module is an operator) or nmt (a translator of two LSTM layers each way with attention, of an assumed shape: 1024 units, 40 words each way in
chunks of 5, a vocabulary of 32,000). A step forward and backward in fp32; 16 bytes of memory per parameter (it, its gradient, mean and
variance of Adam) and the activations. Weights of a layer of nmt lie where its first chunk does; copies for chunks elsewhere are not counted."""
import sys

BYTES, PARAMETER = 4, 16
graph = []  # name, flop, bytes, output, needs, memory


def add(name, macs, moved, output, needs, parameters, kept):
    graph.append([name, 2 * macs, moved * BYTES, output * BYTES, needs, parameters * PARAMETER + kept * BYTES])
    return name


def convolutions(name, batch, at, layers, needs, is_summed=False):
    """A branch: convolutions one after the other, (outputs, rows, columns, stride) with or without a border, or pools. Returns width and channels."""
    width, channels = at
    macs = moved = parameters = kept = 0
    for outputs, rows, columns, stride, has_border in layers:
        inner = width if has_border else width - rows + 1
        out = -(-inner // stride)
        moved += batch * (width * width * channels + out * out * (outputs or channels))
        if outputs:
            weights = rows * columns * channels * outputs
            macs += batch * out * out * weights
            parameters += weights + 2 * outputs
            moved += weights
        width, channels = out, outputs or channels
        kept += batch * width * width * channels
    add(name, macs, moved, batch * width * width * channels, needs, parameters, kept)
    return width, channels


def conv(outputs, rows, columns=0, stride=1, border=True):
    return (outputs, rows, columns or rows, stride, border)


def inception(batch):
    one = lambda outputs: conv(outputs, 1)
    reduce = lambda outputs: conv(outputs, 3, stride=2, border=False)
    pool = (0, 3, 3, 1, True)
    at = convolutions("stem", batch, (299, 3), [reduce(32), conv(32, 3, border=False), conv(64, 3), reduce(0), one(80), conv(192, 3, border=False), reduce(0)], [])
    before = "stem"
    modules = [(f"a{i}", [[one(64)], [one(48), conv(64, 5)], [one(64), conv(96, 3), conv(96, 3)], [pool, one(p)]]) for i, p in enumerate((32, 64, 64))]
    modules += [("b", [[reduce(384)], [one(64), conv(96, 3), reduce(96)], [reduce(0)]])]
    modules += [(f"c{i}", [[one(192)], [one(c), conv(c, 1, 7), conv(192, 7, 1)], [one(c), conv(c, 7, 1), conv(c, 1, 7), conv(c, 7, 1), conv(192, 1, 7)],
                           [pool, one(192)]]) for i, c in enumerate((128, 160, 160, 192))]
    modules += [("d", [[one(192), reduce(320)], [one(192), conv(192, 1, 7), conv(192, 7, 1), reduce(192)], [reduce(0)]])]
    # Pairs of 1x3 and 3x1 side by side are one convolution of twice the outputs here.
    modules += [(f"e{i}", [[one(320)], [one(384), conv(768, 1, 3)], [one(448), conv(384, 3), conv(768, 1, 3)], [pool, one(192)]]) for i in range(2)]
    for name, branches in modules:
        ends = [convolutions(f"{name}.{i}", batch, at, layers, [before]) for i, layers in enumerate(branches)]
        at = (ends[0][0], sum(end[1] for end in ends))
        size = batch * at[0] * at[0] * at[1]
        before = add(f"{name}.join", 0, 2 * size, size, [f"{name}.{i}" for i in range(len(branches))], 0, size)
    add("classifier", batch * at[1] * 1000, batch * at[0] * at[0] * at[1] + 1000 * at[1], batch * 1000, [before], 1000 * at[1], batch * 1000)


def nmt(batch):
    units, words, chunk, vocabulary = 1024, 40, 5, 32000
    tokens = batch * chunk
    lstm = 8 * units * units
    for side in ("enc", "dec"):
        for c in range(words // chunk):
            first = 0 if c else 1
            below = add(f"{side}.embed{c}", 0, 2 * tokens * units, tokens * units, [], first * vocabulary * units, tokens * units)
            for layer in (1, 2):
                needs = [below] + ([f"{side}.l{layer}.{c - 1}"] if c else []) + ([f"enc.l{layer}.{words // chunk - 1}"] if side == "dec" and not c else [])
                below = add(f"{side}.l{layer}.{c}", tokens * lstm, chunk * lstm + 8 * tokens * units, tokens * units, needs, first * lstm, 8 * tokens * units)
            if side == "dec":
                sources = [f"enc.l2.{i}" for i in range(words // chunk)]
                context = add(f"attention{c}", 2 * tokens * words * units, batch * words * units, tokens * units, [below] + sources, 0, tokens * (words + units))
                add(f"softmax{c}", 2 * tokens * units * vocabulary, units * vocabulary + 3 * tokens * vocabulary, tokens, [context], first * units * vocabulary,
                    2 * tokens * vocabulary)


def write(name, batch):
    print(f"""# {name}, batch {batch}, fp32, forward and backward; written by make_operators.py, which says what is assumed.
# source = make_operators.py
name,pass,work_flop,work_bytes,output_bytes,needs,memory_bytes""")
    users = {row[0]: [] for row in graph}
    outputs = {row[0]: row[3] for row in graph}
    for row in graph:
        for need in row[4]:
            users[need].append(row[0])
        print(row[0], "forward", row[1], row[2], row[3], "+".join(row[4]), row[5], sep=",")
    for row in reversed(graph):  # the gradient of the whole input goes back
        needs = [row[0]] + [user + ".back" for user in users[row[0]]]
        print(row[0] + ".back", "backward", 2 * row[1], 2 * row[2], max([outputs[need] for need in row[4]], default=0), "+".join(needs), 0, sep=",")


{"inception-v3": inception, "nmt": nmt}[sys.argv[1]](int(sys.argv[2]))
write(sys.argv[1], int(sys.argv[2]))
