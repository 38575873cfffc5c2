//! A device with one module, for tests.

#![allow(dead_code)]

use ptx_sim::{Device, Fault, Grid, Kind, LaunchError, Loaded, Module, Shape, Statistics};
use std::sync::Arc;

/// Bytes of parameters, each aligned to its size.
#[derive(Default)]
pub(crate) struct Parameters(pub(crate) Vec<u8>);

impl Parameters {
    pub(crate) fn u32(&mut self, value: u32) -> &mut Parameters {
        self.push(&value.to_le_bytes())
    }

    pub(crate) fn u64(&mut self, value: u64) -> &mut Parameters {
        self.push(&value.to_le_bytes())
    }

    fn push(&mut self, bytes: &[u8]) -> &mut Parameters {
        self.0.resize(self.0.len().next_multiple_of(bytes.len()), 0);
        self.0.extend_from_slice(bytes);
        self
    }
}

/// Plain values of 4 or 8 bytes.
pub(crate) trait Word: Copy {
    const BYTES: usize;
    fn bits(self) -> u64;
    fn from_bits(bits: u64) -> Self;
}

macro_rules! word {
    ($($t:ty, $bytes:literal, |$x:ident| $to:expr, |$y:ident| $from:expr;)*) => { $(
        impl Word for $t {
            const BYTES: usize = $bytes;
            fn bits(self) -> u64 { let $x = self; $to }
            fn from_bits($y: u64) -> $t { $from }
        }
    )* };
}

word! {
    u32, 4, |x| x.into(), |y| y as u32;
    u64, 8, |x| x, |y| y;
    f32, 4, |x| x.to_bits().into(), |y| f32::from_bits(y as u32);
}

pub(crate) struct Sim {
    pub(crate) device: Arc<Device>,
    pub(crate) loaded: Loaded,
}

impl Sim {
    /// A device of this shape with this module.
    pub(crate) fn new(shape: &str, text: &str) -> Sim {
        let (shape, rest) = Shape::parse(shape).unwrap();
        assert!(rest.is_empty());
        let device = Device::new(shape);
        let module = Arc::new(Module::parse(text).unwrap_or_else(|e| panic!("{e}")));
        let loaded = device.load(&module).unwrap();
        Sim { device, loaded }
    }

    pub(crate) fn upload<T: Word>(&self, values: &[T]) -> u64 {
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|v| v.bits().to_le_bytes()[..T::BYTES].to_vec())
            .collect();
        let address = self.device.memory.allocate(bytes.len() as u64, Kind::Device).unwrap();
        assert!(self.device.memory.write(address, &bytes));
        address
    }

    pub(crate) fn fill(&self, address: u64, bytes: usize) {
        assert!(self.device.memory.write(address, &vec![0xee; bytes]));
    }

    pub(crate) fn download<T: Word>(&self, address: u64, count: usize) -> Vec<T> {
        let mut bytes = vec![0; count * T::BYTES];
        assert!(self.device.memory.read(address, &mut bytes));
        bytes
            .chunks(T::BYTES)
            .map(|chunk| {
                let mut word = [0; 8];
                word[..T::BYTES].copy_from_slice(chunk);
                T::from_bits(u64::from_le_bytes(word))
            })
            .collect()
    }

    pub(crate) fn run(&self, kernel: &str, grid: Grid, parameters: &Parameters) -> Result<Statistics, LaunchError> {
        self.loaded.launch(kernel, grid, &parameters.0)
    }

    pub(crate) fn fault(&self, kernel: &str, grid: Grid, parameters: &Parameters) -> Fault {
        match self.run(kernel, grid, parameters) {
            Err(LaunchError::Fault(fault)) => *fault,
            other => panic!("expected a fault, got {other:?}"),
        }
    }
}
