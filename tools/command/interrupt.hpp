// Ctrl-C.
#pragma once

namespace kith::command {

/// Let a thread wait for SIGINT, SIGTERM and SIGHUP (those that are not ignored), and ignore
/// SIGPIPE. Call it first, before any other thread is started: all of them must inherit the mask.
/// The first signal asks interrupt_token() to stop; the process ends with 130 at the latest 1.5 s
/// later, or at once when a second one comes or nobody has asked for the token.
void watch_for_interrupts();

}  // namespace kith::command
