//! Stream capture and graphs.

use super::api;
use crate::driver::{driver, healthy, stream};
use crate::error::{Answer, Error};
use crate::graph::{Capture, Executable, Graph};
use crate::pointer::Out;
use crate::stream::submit;
use crate::work::Work;
use std::sync::Arc;

fn instantiate(place: Out<u64>, graph: u64) -> Answer {
    healthy()?;
    let graph = driver().graphs.get(graph)?;
    place.set(driver().executables.add(Arc::new(Executable {
        nodes: graph.nodes.clone(),
    })))
}

/// Zero: nothing is captured; one: it is; two: it is, and something has spoilt it.
fn status(capture: Option<&Arc<Capture>>) -> u32 {
    match capture {
        None => 0,
        Some(capture) if capture.is_valid() => 1,
        Some(_) => 2,
    }
}

api! {
    fn cuStreamBeginCapture_v2(handle: u64, mode: u32) {
        if handle <= 1 {
            return Err(Error::STREAM_CAPTURE_UNSUPPORTED);
        }
        let (_, stream) = stream(handle)?;
        if mode > 2 {
            return Err(Error::INVALID_VALUE);
        }
        if stream.capture().is_some() {
            return Err(Error::ILLEGAL_STATE);
        }
        Capture::begin(&stream, mode).join(&stream);
        Ok(())
    }

    fn cuStreamEndCapture(handle: u64, place: Out<u64>) {
        let (_, stream) = stream(handle)?;
        let capture = stream.capture().ok_or(Error::ILLEGAL_STATE)?;
        if !capture.is_origin(&stream) {
            return Err(Error::STREAM_CAPTURE_UNMATCHED);
        }
        match capture.end() {
            Ok(nodes) => place.set(driver().graphs.add(Graph::new(nodes))),
            Err(error) => {
                place.offer(0);
                Err(error)
            }
        }
    }

    fn cuStreamIsCapturing(handle: u64, state: Out<u32>) {
        state.set(status(stream(handle)?.1.capture().as_ref()))
    }

    fn cuStreamGetCaptureInfo_v2(handle: u64, state: Out<u32>, id: Out<u64>, graph: Out<u64>, dependencies: Out<u64>, count: Out<usize>) {
        let capture = stream(handle)?.1.capture();
        state.set(status(capture.as_ref()))?;
        if let Some(capture) = capture {
            id.offer(capture.id);
        }
        graph.offer(0);
        dependencies.offer(0);
        count.offer(0);
        Ok(())
    }

    fn cuThreadExchangeStreamCaptureMode(mode: Out<u32>) {
        // Every thread is as strict as the capture asks.
        mode.set(0)
    }

    fn cuGraphCreate(place: Out<u64>, _flags: u32) {
        healthy()?;
        place.set(driver().graphs.add(Graph::new(Vec::new())))
    }

    fn cuGraphDestroy(graph: u64) {
        driver().graphs.remove(graph)?;
        Ok(())
    }

    fn cuGraphGetNodes(graph: u64, nodes: Out<u64>, count: Out<usize>) {
        let graph = driver().graphs.get(graph)?;
        if !nodes.is_null() {
            let capacity = count.get()?;
            for index in 0..capacity {
                nodes.at(index).set(if index < graph.nodes.len() { graph.first_node + index as u64 * 16 } else { 0 })?;
            }
        }
        count.set(graph.nodes.len())
    }

    fn cuGraphNodeGetType(node: u64, kind: Out<u32>) {
        let (graph, index) = driver().graphs.find_node(node).ok_or(Error::INVALID_HANDLE)?;
        kind.set(graph.nodes[index].node_type())
    }

    fn cuGraphInstantiateWithFlags(place: Out<u64>, graph: u64, _flags: u64) {
        instantiate(place, graph)
    }

    fn cuGraphInstantiate_v2(place: Out<u64>, graph: u64, error_node: Out<u64>, _log: u64, _bytes: usize) {
        error_node.offer(0);
        instantiate(place, graph)
    }

    fn cuGraphUpload(executable: u64, handle: u64) {
        driver().executables.get(executable)?;
        stream(handle)?;
        Ok(())
    }

    fn cuGraphLaunch(executable: u64, handle: u64) {
        let (context, stream) = stream(handle)?;
        submit(&context, &stream, Work::Graph(driver().executables.get(executable)?))?;
        Ok(())
    }

    fn cuGraphExecDestroy(executable: u64) {
        driver().executables.remove(executable)?;
        Ok(())
    }
}
