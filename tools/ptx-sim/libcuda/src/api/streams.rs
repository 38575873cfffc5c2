//! Streams and events.

use super::api;
use crate::driver::{Context, driver, healthy, lock, stream};
use crate::error::{Answer, Error};
use crate::event::{Event, Point};
use crate::pointer::Out;
use crate::stream::{Stream, order, submit};
use crate::work::Work;
use std::sync::Arc;

fn create(place: Out<u64>, flags: u32, priority: i32) -> Answer {
    let context = healthy()?;
    if flags > 1 || place.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    let stream = Stream::new(Arc::downgrade(&context), flags, priority.clamp(-5, 0));
    lock(&context.streams).push(Arc::clone(&stream));
    place.set(driver().streams.add(stream))
}

/// Nobody may wait for a stream that is captured: what is in it is not being done.
fn not_captured(stream: &Stream) -> Answer {
    match stream.capture() {
        None => Ok(()),
        Some(capture) => {
            capture.invalidate();
            Err(Error::STREAM_CAPTURE_UNSUPPORTED)
        }
    }
}

fn record(event: u64, handle: u64) -> Answer {
    let (context, stream) = stream(handle)?;
    let event = driver().events.get(event)?;
    if let Some(capture) = stream.capture() {
        capture.add(Work::Empty)?;
        event.record_captured(capture);
        return Ok(());
    }
    order(&context, &stream)?;
    let number = event.reserve();
    let after = stream.push(Work::Record(Arc::clone(&event), number));
    event.record(
        number,
        Point {
            stream: Arc::clone(&stream),
            after,
        },
    );
    Ok(())
}

fn wait_event(context: &Context, stream: &Arc<Stream>, event: &Event) -> Answer {
    if let Some(capture) = event.captured() {
        return match stream.capture() {
            None if !Arc::ptr_eq(stream, &context.legacy) => {
                capture.join(stream);
                Ok(())
            }
            Some(own) if Arc::ptr_eq(&own, &capture) => Ok(()),
            _ => Err(Error::STREAM_CAPTURE_ISOLATION),
        };
    }
    if let Some(capture) = stream.capture() {
        // It would wait for what is not part of the graph.
        capture.invalidate();
        return Err(Error::STREAM_CAPTURE_ISOLATION);
    }
    if let Some(point) = event.point() {
        submit(context, stream, Work::Wait(point.stream, point.after))?;
    }
    Ok(())
}

api! {
    fn cuStreamCreate(place: Out<u64>, flags: u32) {
        create(place, flags, 0)
    }

    fn cuStreamCreateWithPriority(place: Out<u64>, flags: u32, priority: i32) {
        create(place, flags, priority)
    }

    fn cuStreamDestroy_v2(handle: u64) {
        let stream = driver().streams.remove(handle)?;
        stream.end();
        // What is in it is still done; the context waits for it if asked to.
        if let Some(context) = stream.context.upgrade() && stream.done(stream.point()) {
            lock(&context.streams).retain(|s| !Arc::ptr_eq(s, &stream));
        }
        Ok(())
    }

    fn cuStreamSynchronize(handle: u64) {
        let (context, stream) = stream(handle)?;
        not_captured(&stream)?;
        order(&context, &stream)?;
        stream.wait();
        context.check()
    }

    fn cuStreamQuery(handle: u64) {
        let (context, stream) = stream(handle)?;
        not_captured(&stream)?;
        let done = stream.done(stream.point());
        context.check()?;
        if done { Ok(()) } else { Err(Error::NOT_READY) }
    }

    fn cuStreamWaitEvent(handle: u64, event: u64, _flags: u32) {
        let (context, stream) = stream(handle)?;
        wait_event(&context, &stream, &*driver().events.get(event)?)
    }

    fn cuStreamGetPriority(handle: u64, priority: Out<i32>) {
        priority.set(stream(handle)?.1.priority)
    }

    fn cuStreamGetFlags(handle: u64, flags: Out<u32>) {
        flags.set(stream(handle)?.1.flags)
    }

    fn cuStreamAttachMemAsync(handle: u64, _address: u64, _bytes: usize, _flags: u32) {
        stream(handle)?;
        Ok(())
    }

    fn cuEventCreate(place: Out<u64>, flags: u32) {
        healthy()?;
        if flags > 7 || place.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        place.set(driver().events.add(Event::new(flags & 2 == 0)))
    }

    fn cuEventDestroy_v2(event: u64) {
        driver().events.remove(event)?;
        Ok(())
    }

    fn cuEventRecord(event: u64, handle: u64) {
        record(event, handle)
    }

    fn cuEventRecordWithFlags(event: u64, handle: u64, _flags: u32) {
        record(event, handle)
    }

    fn cuEventQuery(event: u64) {
        let context = healthy()?;
        let event = driver().events.get(event)?;
        if event.captured().is_some() {
            return Err(Error::CAPTURED_EVENT);
        }
        let done = event.done();
        context.check()?;
        if done { Ok(()) } else { Err(Error::NOT_READY) }
    }

    fn cuEventSynchronize(event: u64) {
        let context = healthy()?;
        let event = driver().events.get(event)?;
        if event.captured().is_some() {
            return Err(Error::CAPTURED_EVENT);
        }
        if let Some(point) = event.point() {
            point.stream.wait_for(point.after);
        }
        context.check()
    }

    fn cuEventElapsedTime(milliseconds: Out<f32>, start: u64, end: u64) {
        elapsed(milliseconds, start, end)
    }

    fn cuEventElapsedTime_v2(milliseconds: Out<f32>, start: u64, end: u64) {
        elapsed(milliseconds, start, end)
    }
}

fn elapsed(milliseconds: Out<f32>, start: u64, end: u64) -> Answer {
    let context = healthy()?;
    let (start, end) = (driver().events.get(start)?, driver().events.get(end)?);
    if !start.timing || !end.timing || start.point().is_none() || end.point().is_none() {
        return Err(Error::INVALID_HANDLE);
    }
    if !start.done() || !end.done() {
        return Err(Error::NOT_READY);
    }
    context.check()?;
    let (Some(from), Some(to)) = (start.time(), end.time()) else {
        return Err(Error::NOT_READY);
    };
    let seconds = if to >= from {
        (to - from).as_secs_f32()
    } else {
        -(from - to).as_secs_f32()
    };
    milliseconds.set(seconds * 1000.0)
}
