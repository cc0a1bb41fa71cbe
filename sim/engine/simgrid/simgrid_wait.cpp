#include "simgrid_wait.h"

#include <simgrid/s4u/Comm.hpp>

sg_comm_t simgrid_send(sg_host_t from, sg_host_t to, uint64_t bytes)
{
    return simgrid::s4u::Comm::sendto_async(from, to, bytes).detach();
}

double simgrid_wait(sg_comm_t comm)
{
    const simgrid::s4u::CommPtr own(comm, false);
    own->wait();
    return own->get_finish_time();
}
