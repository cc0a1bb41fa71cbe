#include "simgrid_wait.h"

#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Mailbox.hpp>
#if __has_include(<simgrid/s4u/ActivitySet.hpp>) // since SimGrid 3.35
#include <simgrid/s4u/ActivitySet.hpp>
#define WAIT_ANY(comm) simgrid::s4u::ActivitySet({comm}).wait_any()
#else
#define WAIT_ANY(comm) simgrid::s4u::Activity::wait_any({comm})
#endif

struct sized_comm : simgrid::s4u::Comm { // sizes need not be whole bytes; protected since 3.35
    using simgrid::s4u::Activity::set_remaining;
};

sg_comm_t simgrid_put(sg_mailbox_t mailbox, void *payload, double bytes)
{
    simgrid::s4u::CommPtr comm = mailbox->put_init(payload, 0);
    (comm.get()->*&sized_comm::set_remaining)(bytes);
    comm->start();
    return comm.detach();
}

void simgrid_put_and_forget(sg_mailbox_t mailbox, void *payload, double bytes)
{
    const simgrid::s4u::CommPtr comm = mailbox->put_init(payload, 0);
    (comm.get()->*&sized_comm::set_remaining)(bytes);
    comm->detach();
}

sg_comm_t simgrid_send(sg_host_t from, sg_host_t to, uint64_t bytes)
{
    return simgrid::s4u::Comm::sendto_async(from, to, bytes).detach();
}

void simgrid_set_note(sg_comm_t comm, void *note)
{
    comm->set_data(note);
}

double simgrid_wait(sg_comm_t comm)
{
    const simgrid::s4u::CommPtr own(comm, false);
    /* SimGrid watches the host of who waits for one communication, with an action that takes as
     * long as the communication itself; of who waits for any of several it does not. One that
     * has ended needs no watch. */
    double end_s = own->get_finish_time();
    if (end_s >= 0) {
        own->wait();
    } else {
        (void)WAIT_ANY(own);
        end_s = own->get_finish_time();
    }
    /* In SimGrid 3.32 a communication that ends at the instant at which its receive is posted has
     * no time of its end yet: it is now. */
    const double known_s = end_s >= 0 ? end_s : simgrid::s4u::Engine::get_clock();
    if (void *const note = own->get_data<void>()) {
        child_note_moved(note, own->get_start_time(), known_s);
    }
    return known_s;
}
