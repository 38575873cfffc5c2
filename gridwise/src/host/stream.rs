//! What a queue has on its device, and copies through it.

use bytemuck::Pod;

use super::{buffer::CopyError, device::Device};
use crate::kernel::{Span, SpanMut};
#[cfg(feature = "cuda")]
use crate::{
    backend::cuda::host::{CudaDevice, Stream as CudaStream},
    host::{
        driver::DriverError,
        launch::{LaunchError, LaunchPlan},
    },
    kernel::span::Home,
    sync::{Mutex, lock},
};

/// What a queue has on its device: on a GPU a stream, made when it is first used; elsewhere nothing. Used by who has the turn.
#[derive(Debug, Default)]
pub(super) struct Stream {
    #[cfg(feature = "cuda")]
    cuda: std::sync::OnceLock<CudaStream>,
    /// What went wrong in a call that returns no error. The next that can, does.
    #[cfg(feature = "cuda")]
    owed: Mutex<Option<DriverError>>,
}

impl Stream {
    /// Copies between any two places that the device reaches.
    pub(super) fn copy<T: Pod>(
        &self,
        device: &Device,
        source: Span<'_, T>,
        destination: SpanMut<'_, T>,
    ) -> Result<(), CopyError> {
        if source.len() != destination.len() {
            return Err(CopyError::Lengths {
                source_len: source.len(),
                destination_len: destination.len(),
            });
        }
        #[cfg(feature = "cuda")]
        if let Some(cuda) = device.as_cuda() {
            return Ok(self.copy_by(cuda, source, destination)?);
        }
        let _ = device;
        destination.into_slice().copy_from_slice(&source);
        Ok(())
    }

    /// Sets every element.
    pub(super) fn fill<T: Pod>(&self, device: &Device, destination: SpanMut<'_, T>, value: T) {
        #[cfg(feature = "cuda")]
        if let Some(cuda) = device.as_cuda()
            && destination.lies().0 != Home::HOST
        {
            return self.fill_by(cuda, destination, bytemuck::bytes_of(&value));
        }
        let _ = device;
        destination.into_slice().fill(value);
    }

    /// Sets every byte.
    pub(super) fn fill_bytes<T: Pod>(&self, device: &Device, destination: SpanMut<'_, T>, value: u8) {
        #[cfg(feature = "cuda")]
        if let Some(cuda) = device.as_cuda()
            && destination.lies().0 != Home::HOST
        {
            return self.fill_by(cuda, destination, &[value]);
        }
        let _ = device;
        bytemuck::cast_slice_mut::<T, u8>(destination.into_slice()).fill(value);
    }
}

#[cfg(feature = "cuda")]
impl Stream {
    pub(super) fn cuda(&self, device: &CudaDevice) -> Result<&CudaStream, DriverError> {
        if let Some(owed) = lock(&self.owed).take() {
            return Err(owed);
        }
        if let Some(stream) = self.cuda.get() {
            return Ok(stream);
        }
        let stream = device.stream()?;
        Ok(self.cuda.get_or_init(|| stream))
    }

    /// The stream, for a launch.
    pub(super) fn of_launch(&self, device: &CudaDevice, plan: &LaunchPlan) -> Result<&CudaStream, LaunchError> {
        self.cuda(device).map_err(|source| LaunchError::Driver {
            kernel: plan.kernel,
            source,
        })
    }

    fn copy_by<T: Pod>(
        &self,
        device: &CudaDevice,
        source: Span<'_, T>,
        destination: SpanMut<'_, T>,
    ) -> Result<(), DriverError> {
        let bytes = source.len() * size_of::<T>();
        let ((from_home, from), (to_home, to)) = (source.lies(), destination.lies());
        let (from, to): (*const u8, *mut u8) = (from.cast(), to.cast());
        device.reaches(from_home)?;
        device.reaches(to_home)?;
        let stream = self.cuda(device)?;
        match (from_home == Home::HOST, to_home == Home::HOST) {
            (true, true) => {
                destination.into_slice().copy_from_slice(&source);
                Ok(())
            }
            // SAFETY: two views of that many bytes, borrowed, the second for this alone.
            (true, false) => unsafe { stream.copy_in(from, to, bytes) },
            // SAFETY: as above.
            (false, true) => unsafe { stream.copy_out(from, to, bytes) },
            // SAFETY: as above; so they do not overlap.
            (false, false) => unsafe { stream.copy_within(from, to, bytes) },
        }
    }

    fn fill_by<T: Pod>(&self, device: &CudaDevice, destination: SpanMut<'_, T>, value: &[u8]) {
        let (home, at) = destination.lies();
        let count = match value.len() {
            0 => 0,
            size => destination.len() * size_of::<T>() / size,
        };
        let filled = device.reaches(home).and_then(|()| {
            let stream = self.cuda(device)?;
            // SAFETY: a view of that many elements, borrowed for this alone.
            unsafe { stream.fill(at.cast(), value, count) }
        });
        if let Err(error) = filled {
            lock(&self.owed).get_or_insert(error);
        }
    }
}
