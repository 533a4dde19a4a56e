//! A look at standard input and output before the runtime of Rust opens `/dev/null` in the place of those that are closed.
//!
//! The loader calls what the section of initialisers names after it has made the C library ready, and before the runtime begins. Later it
//! cannot be found out any more (src/cli/streams.rs). tests/behaviour/streams.rs starts the program without the streams.

use profdb::cli;

// SAFETY: the section holds addresses of functions of this type, which are called once; the function neither unwinds nor uses
// what the runtime of Rust makes.
#[used]
#[expect(
    unsafe_code,
    reason = "a section has to be named, and the compiler does not know what it means"
)]
#[cfg_attr(
    target_vendor = "apple",
    unsafe(link_section = "__DATA,__mod_init_func")
)]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    cli::look_at_streams();
}
