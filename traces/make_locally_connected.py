#!/usr/bin/env python3
"""Writes a work table of a network of 2012 and 2013 to standard output: distbelief-speech, distbelief-image, cots-1b or cots-11b.

The speech model of DistBelief (Dean et al., Large Scale Distributed Deep Networks, NIPS 2012) is fully connected: 11 frames of
40 values, four layers of 2560 nodes, 8192 outputs, 42 million parameters. The others have three stages of a locally connected
layer (weights of its own at every place), pooling of 2 x 2, and a normalization of contrast, which is taken as a batch norm
without parameters. Sizes of images and numbers of maps are not at hand: they are chosen so that there are as many parameters as
published (1.7 billion; 1 and 11.2 billion). Patches and outputs are recalled: 10 x 10 and 21,000 (DistBelief), 18 x 18 (Le et
al., arXiv:1112.6209, whose network Coates et al., ICML 2013, scale up)."""
import sys

SOURCES = {
    "distbelief-speech": "Dean et al., NIPS 2012, speech model: 440 inputs, 4 layers of 2560, 8192 outputs, recalled",
    "distbelief-image": "Dean et al., NIPS 2012, locally connected, 1.7 billion parameters; image and maps assumed",
    "cots-1b": "Coates et al., ICML 2013, 1 billion parameters; image and maps assumed",
    "cots-11b": "Coates et al., ICML 2013, 11 billion parameters; image and maps assumed",
}
# width and channels of the input, maps, side of a patch, outputs of a last layer or 0
STAGES = {"distbelief-image": (164, 3, 36, 10, 21000), "cots-1b": (200, 3, 12, 18, 0), "cots-11b": (200, 3, 48, 18, 0)}


def row(name, kind, inputs, outputs, macs=0, shape=(0, 0, 0, 0, 0)):
    print(name, kind, macs, inputs, outputs, *shape, macs, sep=",")


def fc(name, inputs, outputs):
    row(name, "fc", inputs, outputs, inputs * outputs, (1, inputs, outputs, 1, 1))


name = sys.argv[1]
print(f"""# Work for one sample, layer by layer in forward order; written by make_locally_connected.py.
# source = {SOURCES[name].replace(",", ";")}
layer,kind,macs,input_elements,output_elements,width,channels_in,channels_out,kernel,stride,gradient_elements""")
if name == "distbelief-speech":
    sizes = [440, 2560, 2560, 2560, 2560, 8192]
    for i, (inputs, outputs) in enumerate(zip(sizes, sizes[1:])):
        fc(f"fc{i + 1}", inputs, outputs)
        row(f"relu{i + 1}", "relu", outputs, outputs)
else:
    width, channels, maps, side, classes = STAGES[name]
    for i in range(3):
        places, half = width * width, width // 2
        row(f"local{i + 1}", "local", places * channels, places * maps, places * maps * channels * side * side,
            (width, channels, maps, side, 1))
        row(f"pool{i + 1}", "maxpool", places * maps, half * half * maps, 0, (width, maps, maps, 2, 2))
        row(f"norm{i + 1}", "bn", half * half * maps, half * half * maps)
        width, channels = half, maps
    if classes:
        fc("fc", width * width * channels, classes)
        row("loss", "loss", classes, classes)
