//! What streams do.

use crate::driver::{Context, FunctionState};
use crate::error::Error;
use crate::event::Event;
use crate::graph::Executable;
use crate::pointer;
use crate::stream::Stream;
use ptx_sim::Grid;
use std::ffi::c_void;
use std::sync::Arc;

/// A piece of work. Graphs keep it and do it again.
#[derive(Clone)]
pub(crate) enum Work {
    /// A kernel with its parameters.
    Launch(Arc<FunctionState>, Grid, Arc<[u8]>),
    /// To, from, bytes.
    Copy(u64, u64, usize),
    /// To, and what: taken when the copy was asked for.
    Put(u64, Arc<[u8]>),
    /// To, value, width, elements.
    Fill(u64, u32, usize, usize),
    /// A function of the program.
    Host(unsafe extern "C" fn(*mut c_void), u64),
    /// An event, and the number of its record.
    Record(Arc<Event>, u64),
    /// Until another stream is there.
    Wait(Arc<Stream>, u64),
    /// An allocation ends.
    Free(u64),
    /// A graph.
    Graph(Arc<Executable>),
    /// Nothing.
    Empty,
}

impl Work {
    /// Does it. In a context that has failed, only what others wait for.
    pub(crate) fn perform(&self, context: &Context) {
        match self {
            Work::Wait(stream, point) => stream.wait_for(*point),
            Work::Record(event, record) => event.reached(*record),
            Work::Host(function, data) => pointer::call(*function, *data),
            _ if context.check().is_err() => {}
            Work::Launch(function, grid, parameters) => {
                if let Err(error) = function.module.loaded.launch(&function.name, *grid, parameters) {
                    context.fail(Error::from(&error), &error.to_string());
                }
            }
            Work::Copy(to, from, bytes) => pointer::copy(*to, *from, *bytes),
            Work::Put(to, bytes) => pointer::copy(*to, bytes.as_ptr() as u64, bytes.len()),
            Work::Fill(to, value, width, count) => pointer::fill(*to, *value, *width, *count),
            Work::Free(address) => {
                context.device.sim.memory.free(*address);
            }
            Work::Graph(graph) => graph.nodes.iter().for_each(|node| node.perform(context)),
            Work::Empty => {}
        }
    }

    /// The number of its kind among graph nodes.
    pub(crate) fn node_type(&self) -> u32 {
        match self {
            Work::Launch(..) => 0,
            Work::Copy(..) | Work::Put(..) => 1,
            Work::Fill(..) => 2,
            Work::Host(..) => 3,
            Work::Graph(..) => 4,
            Work::Wait(..) | Work::Empty => 5,
            Work::Record(..) => 7,
            Work::Free(..) => 11,
        }
    }
}
