//! What the compiler calls to compare bytes: there is no C library on the device.

/// Compares as C's does.
///
/// # Safety
/// Both have `len` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, len: usize) -> i32 {
    let mut at = 0;
    while at < len {
        // SAFETY: below the length.
        let x = unsafe { *a.add(at) };
        // SAFETY: as above.
        let y = unsafe { *b.add(at) };
        if x != y {
            return i32::from(x) - i32::from(y);
        }
        at += 1;
    }
    0
}

/// Whether they differ.
///
/// # Safety
/// Both have `len` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(a: *const u8, b: *const u8, len: usize) -> i32 {
    // SAFETY: by the caller.
    unsafe { memcmp(a, b, len) }
}
