//! Members of our own in files of the Firefox Profiler, read and written. The viewer does not know them.

/// A member of `meta`: the interval is unknown, and the one that is there is for viewers, which
/// want one.
pub(crate) const UNKNOWN_INTERVAL: &str = "unknownInterval";

/// A member of `meta`: names of processes and threads are those of the run. In other files two threads
/// may have one name, and are told apart by their numbers.
pub(crate) const OWN_NAMES: &str = "ownNames";

/// A member of a thread: it is in no process, and the name that is there is for viewers.
pub(crate) const UNKNOWN_PROCESS: &str = "unknownProcess";

/// A member of a thread: its samples are of no thread, and the name that is there is for viewers.
pub(crate) const UNKNOWN_THREAD: &str = "unknownThread";

/// A member of a thread: its stacks that are no calls, but what the thread or process itself cost. Viewers show nothing of
/// samples without a stack.
pub(crate) const OWN_STACKS: &str = "ownStacks";
