#include "simgrid_wait.h"

#include <simgrid/s4u/Comm.hpp>

double simgrid_wait(sg_comm_t comm)
{
    const simgrid::s4u::CommPtr own(comm, false);
    own->wait();
    return own->get_finish_time();
}
