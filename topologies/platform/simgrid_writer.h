/** \file simgrid_writer.h
 * What the layouts of a SimGrid platform (simgrid_xml.c, simgrid_flat.c) share.
 */
#ifndef AR_SIMGRID_WRITER_H
#define AR_SIMGRID_WRITER_H

#include <stdio.h>

#include "fabric.h"

/** Room for the name of a link, a host or a zone. */
enum { AR_SIMGRID_NAME_SIZE = 64 };

/** The file up to the inside of the outermost zone, and its end. */
void ar_simgrid_begin(const struct ar_cluster *cluster, const char *routing, FILE *file);
void ar_simgrid_end(FILE *file);

void ar_simgrid_write_host(uint32_t rank, FILE *file);

/** A link of the cluster; one that carries a latency and never limits what the links behind it
 * together carry. */
void ar_simgrid_write_link(const struct ar_cluster *cluster, uint32_t link, double latency_s,
                           FILE *file);
void ar_simgrid_write_net_link(const char *name, double bandwidth_Bps, double latency_s,
                               FILE *file);

/** A link on a route, by its name. */
void ar_simgrid_write_hop(const char *name, FILE *file);

/** The layout with a route for each of the pairs of ranks (ar_cluster_write_simgrid()). */
enum ar_status ar_simgrid_write_flat(const struct ar_cluster *cluster, uint32_t nodes_count,
                                     const struct ar_flow *pairs, size_t pairs_count, FILE *file,
                                     struct ar_error *err);

#endif
