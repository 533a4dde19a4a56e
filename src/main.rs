//! The program: parse, run, map the error to an exit code.

mod memory;
#[cfg(unix)]
mod streams;

use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use profdb::base::ending::Doing;
use profdb::base::error::Stop;
use profdb::base::limits;
use profdb::cli::{self, Failure};

/// Between two looks at what an interrupted program is doing.
const LOOK: Duration = Duration::from_millis(10);

/// Stack of the program: as much as systems usually give, also where `ulimit -s` gives less.
const STACK: u32 = 8 << 20;

fn main() -> ExitCode {
    memory::keep_some(Failure::Limit.exit_code());
    memory::give_back();
    // glibc gives memory to its first thread in large pieces, and to others page by page: a thousand calls of the system in
    // `profdb history` of a thousand runs.
    if limits::has_stack(u64::from(STACK)) {
        return run();
    }
    let begun = thread::Builder::new()
        .name("main".to_owned())
        .stack_size(STACK as usize)
        .spawn(run);
    match begun {
        Ok(thread) => thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        // What the system gives has to do.
        Err(_) => run(),
    }
}

fn run() -> ExitCode {
    #[cfg(feature = "parquet")]
    profdb::base::panics::show_others();
    limits::heed_file_size();
    let stop = Stop::default();
    let asked = stop.clone();
    let handled = on_interrupt(move |signal| {
        // What a user interrupts in a pager is the pager's business. No more is sent to it, and the
        // program ends when it does.
        if signal == Signal::Interrupt && cli::is_paging() {
            asked.interrupt();
            return;
        }
        if asked.is_set() {
            // Who asks twice does not want to wait.
            give_up();
        }
        asked.interrupt();
        let ends = || {
            let mut waited = Duration::ZERO;
            while !Doing::now().is_given_up(waited) {
                thread::sleep(LOOK);
                waited += LOOK;
            }
            give_up();
        };
        if thread::Builder::new().spawn(ends).is_err() {
            ends();
        }
    });
    // Without a handler an interrupt ends the program at once, which is as safe.
    drop(handled);
    ExitCode::from(match cli::run(std::env::args_os(), &stop) {
        Ok(()) => 0,
        Err(failure) => failure.exit_code(),
    })
}

#[expect(
    clippy::exit,
    reason = "the main thread waits for something that may never come"
)]
fn give_up() -> ! {
    cli::leave_nothing();
    cli::say_interrupted();
    std::process::exit(i32::from(Failure::Interrupted.exit_code()))
}

/// Why the program is asked to end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// By the system or another program.
    #[cfg(unix)]
    Terminate,
}

/// Has a function called, in a thread of its own, for Ctrl-C and when the system asks the program
/// to end. A lost terminal is not among them: `nohup` decides what that means.
#[cfg(unix)]
fn on_interrupt(mut act: impl FnMut(Signal) + Send + 'static) -> std::io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use std::sync::mpsc::channel;
    let (heard, to_hear) = channel::<signal_hook::iterator::Signals>();
    // The thread comes first: where there is none, signals do what they usually do.
    thread::Builder::new().spawn(move || {
        for mut signals in to_hear {
            signals.forever().for_each(|signal| {
                act(if signal == SIGINT {
                    Signal::Interrupt
                } else {
                    Signal::Terminate
                });
            });
        }
    })?;
    // A thread that is there listens until the program ends.
    let _ = heard.send(signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?);
    Ok(())
}

/// Has a function called, in a thread of its own, for Ctrl-C.
#[cfg(not(unix))]
fn on_interrupt(mut act: impl FnMut(Signal) + Send + 'static) -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(move || act(Signal::Interrupt))
}
