// Ctrl-C.
#pragma once

#include <string>

namespace kith::command {

/// Let a thread wait for SIGINT, SIGTERM and SIGHUP (those that are not ignored), and ignore
/// SIGPIPE. Call it first, before any other thread is started: all of them must inherit the mask.
/// The first signal asks interrupt_token() to stop; the process ends with interrupted_code() at the
/// latest 1.5 s later, or at once when a second one comes or the token is not used.
void watch_for_interrupts();

/// All is done, and the next signal comes too late: mpirun ends the other ranks by SIGTERM once one of them
/// has returned another code than 0.
void ignore_interrupts();

/// False where watch_for_interrupts() could make no thread: signals then end the command at once.
bool can_make_threads();

/// What is measured is kept, so that the same command goes on from it: what a stop says.
void tell_that_work_is_kept();

/// It would be by --checkpoint, which is not given.
void tell_that_work_can_be_kept();

/// What shells expect: 128 and the number of the signal that came (130 SIGINT, 143 SIGTERM, 129 SIGHUP); 130
/// where none did.
int interrupted_code();

/// The library's message about a stop, with what follows from it for who asked for files.
std::string for_whom_it_was_stopped(std::string message);

}  // namespace kith::command
