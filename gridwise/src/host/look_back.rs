//! The memory of a look-back, for a launch at a time.

use std::marker::PhantomData;

use bytemuck::Pod;

use super::{
    buffer::{AllocationError, Buffer},
    queue::Queue,
};
use crate::kernel::LookBack;

/// What a [`LookBack`] keeps for its tiles; see there.
#[derive(Debug)]
pub struct LookBackMemory<T> {
    words: Buffer<u64>,
    tiles: usize,
    _value: PhantomData<T>,
}

impl<T: Pod> LookBackMemory<T> {
    /// A look-back that knows no tile yet, for one launch. It cannot be handed to two.
    pub fn fresh(&mut self, queue: &Queue) -> LookBack<'_, T> {
        queue.fill(self.words.span_mut(), 0);
        LookBack::new(self.words.span_mut(), self.tiles)
    }
}

impl Queue {
    /// Memory for a [`LookBack`] over so many tiles, which needs at least 64 bytes for each.
    ///
    /// # Errors
    /// If there is no memory for it.
    #[track_caller]
    pub fn look_back<T: Pod>(&self, tiles: usize) -> Result<LookBackMemory<T>, AllocationError> {
        let words = LookBack::<T>::words(tiles).ok_or_else(|| AllocationError::of::<T>(tiles))?;
        Ok(LookBackMemory {
            words: self.device().zeroed(words)?,
            tiles,
            _value: PhantomData,
        })
    }
}
