// Stops a command by Ctrl-C.
#pragma once

#include <string>

namespace kith::command {

/// Starts a thread that waits for SIGINT, SIGTERM and SIGHUP (those that are not ignored), and ignores
/// SIGPIPE. Call it first, before any other thread is started: all of them must inherit the mask.
/// The first signal asks interrupt_token() to stop; the process ends with interrupted_code() at the
/// latest 1.5 s later, or at once when a second one comes or the token is not used.
void watch_for_interrupts();

/// Says that all is done, so that the next signal has no effect: mpirun ends the other ranks by SIGTERM once
/// one of them has returned a code other than 0.
void ignore_interrupts();

/// Returns false if watch_for_interrupts() could make no thread: signals then end the command at once.
bool can_make_threads();

/// Says that measurements are kept, so that the same command continues from them: a stop then says so.
void tell_that_work_is_kept();

/// Says that --checkpoint would keep them, but was not given.
void tell_that_work_can_be_kept();

/// Returns the code that shells expect: 128 plus the signal that came (130 SIGINT, 143 SIGTERM, 129 SIGHUP);
/// 130 if none came.
int interrupted_code();

/// Returns the library's message about a stop, and adds what it means for files that were asked for.
std::string for_whom_it_was_stopped(std::string message);

}  // namespace kith::command
