/** \file resnet50.h
 * Writes the work table of ResNet-50 v1.5 from its architecture (He et al., arXiv:1512.03385;
 * v1.5 puts the stride of a down-sampling block on the 3x3 convolution instead of the first 1x1).
 *
 * Layers stand in forward order. In the first block of a stage the shortcut (conv and bn) comes
 * after the three convolutions and before the sum. Names follow torchvision.
 */
#ifndef AR_TRACES_RESNET50_H
#define AR_TRACES_RESNET50_H

#include <stdio.h>

/** Writes the table to `file`; the caller checks the file for errors. */
void ar_resnet50_write(FILE *file);

#endif
