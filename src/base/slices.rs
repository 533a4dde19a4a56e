//! Comparisons of short slices

/// Whether two slices are equal, of which many are empty.
///
/// `==` calls `memcmp` also for no bytes. An empty slice of Rust has an address at which nothing is, and of which glibc's `memcmp`
/// for AVX-512 loads no byte, by a mask: a processor takes a hundred nanoseconds for such a load, which once were a sixth of an
/// export.
#[inline]
pub(crate) fn same<T: PartialEq>(one: &[T], other: &[T]) -> bool {
    one.len() == other.len() && (one.is_empty() || one == other)
}
