//! What there is: devices, contexts, and the tables that handles lead into.
//!
//! A handle is a number that only looks like a pointer. What was destroyed, or never was, is found out.

use crate::error::Error;
use crate::event::Event;
use crate::graph::{Executable, Graph};
use crate::stream::Stream;
use ptx_sim::{Device, LoadError, Loaded, Module, Shape};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Locks, whatever befell who held it before.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A table from handles to things.
pub(crate) struct Table<T>(Mutex<HashMap<u64, Arc<T>>>);

impl<T> Table<T> {
    fn new() -> Table<T> {
        Table(Mutex::default())
    }

    pub(crate) fn add(&self, thing: Arc<T>) -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(0x1000);
        let handle = NEXT.fetch_add(16, Ordering::Relaxed);
        lock(&self.0).insert(handle, thing);
        handle
    }

    pub(crate) fn get(&self, handle: u64) -> Result<Arc<T>, Error> {
        lock(&self.0).get(&handle).cloned().ok_or(Error::INVALID_HANDLE)
    }

    pub(crate) fn remove(&self, handle: u64) -> Result<Arc<T>, Error> {
        lock(&self.0).remove(&handle).ok_or(Error::INVALID_HANDLE)
    }
}

impl Table<Graph> {
    /// The graph that a node belongs to, and which of its nodes it is.
    pub(crate) fn find_node(&self, node: u64) -> Option<(Arc<Graph>, usize)> {
        let graphs = lock(&self.0);
        graphs.values().find_map(|graph| {
            let index = usize::try_from(node.checked_sub(graph.first_node)? / 16).ok()?;
            (index < graph.nodes.len()).then(|| (Arc::clone(graph), index))
        })
    }
}

/// A device and its primary context.
pub(crate) struct DeviceState {
    pub(crate) index: usize,
    pub(crate) sim: Arc<Device>,
    pub(crate) shape: Shape,
    /// Handle of the primary context and how often it is retained.
    primary: Mutex<Option<(u64, u32)>>,
    pub(crate) flags: AtomicU32,
}

/// A context: what fails in it stays failed.
pub(crate) struct Context {
    pub(crate) device: Arc<DeviceState>,
    /// The error that every call gives from now on; zero while all is well.
    error: AtomicU32,
    /// Words for what went wrong last.
    report: Mutex<String>,
    pub(crate) legacy: Arc<Stream>,
    pub(crate) streams: Mutex<Vec<Arc<Stream>>>,
    pub(crate) destroyed: AtomicBool,
}

impl Context {
    fn new(device: &Arc<DeviceState>) -> Arc<Context> {
        let context = Arc::new_cyclic(|weak| Context {
            device: Arc::clone(device),
            error: AtomicU32::new(0),
            report: Mutex::default(),
            legacy: Stream::new(weak.clone(), 0, 0),
            streams: Mutex::default(),
            destroyed: AtomicBool::new(false),
        });
        lock(&context.streams).push(Arc::clone(&context.legacy));
        context
    }

    /// The error that sticks, if there is one.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.error.load(Ordering::SeqCst) {
            0 => Ok(()),
            code => Err(Error(code)),
        }
    }

    /// A kernel has failed: the first one counts.
    pub(crate) fn fail(&self, error: Error, report: &str) {
        if self
            .error
            .compare_exchange(0, error.0, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok()
        {
            self.report(report);
        }
    }

    /// Says what went wrong where somebody will read it, and keeps it.
    pub(crate) fn report(&self, text: &str) {
        if !driver().quiet {
            eprintln!("ptx-sim: {text}");
        }
        text.clone_into(&mut lock(&self.report));
    }

    pub(crate) fn last_report(&self) -> String {
        lock(&self.report).clone()
    }

    /// Waits until everything given to it so far is done.
    pub(crate) fn wait(&self) {
        let streams: Vec<Arc<Stream>> = lock(&self.streams).clone();
        for stream in streams {
            stream.wait();
        }
    }

    fn end(&self) {
        self.destroyed.store(true, Ordering::SeqCst);
        for stream in lock(&self.streams).drain(..) {
            stream.end();
        }
    }
}

/// A module in a context.
pub(crate) struct ModuleState {
    pub(crate) loaded: Loaded,
}

/// A kernel, and what was set for it.
pub(crate) struct FunctionState {
    pub(crate) module: Arc<ModuleState>,
    pub(crate) module_handle: u64,
    pub(crate) name: String,
    /// With the zero byte at its end, for who asks for a pointer.
    pub(crate) c_name: Box<[u8]>,
    pub(crate) device: Arc<DeviceState>,
    pub(crate) dynamic_shared: AtomicU32,
}

/// How many decoded texts are kept.
const TEXTS: usize = 4;

/// Everything.
pub(crate) struct Driver {
    pub(crate) devices: Vec<Arc<DeviceState>>,
    pub(crate) version: i32,
    quiet: bool,
    pub(crate) contexts: Table<Context>,
    pub(crate) streams: Table<Stream>,
    pub(crate) events: Table<Event>,
    pub(crate) modules: Table<ModuleState>,
    pub(crate) functions: Table<FunctionState>,
    pub(crate) graphs: Table<Graph>,
    pub(crate) executables: Table<Executable>,
    /// Texts that were decoded, the latest last: a program loads the same one again and again.
    texts: Mutex<Vec<(String, Arc<Module>)>>,
    /// Whether `cuInit` was called.
    pub(crate) initialised: AtomicBool,
}

impl Driver {
    fn new() -> Driver {
        let text = std::env::var("PTX_SIM").unwrap_or_default();
        let (shape, rest) = Shape::parse(&text).unwrap_or_else(|wrong| {
            eprintln!("PTX_SIM: {wrong}");
            (Shape::default(), Vec::new())
        });
        let (mut devices, mut version, mut quiet) = (1, 12080, false);
        for (key, value) in rest {
            match (key, value.parse::<i32>()) {
                ("devices", Ok(n)) => devices = n.clamp(0, 64),
                ("driver", Ok(n)) => version = n,
                ("quiet", Ok(n)) => quiet = n != 0,
                _ => eprintln!("PTX_SIM: `{key}={value}` is not known"),
            }
        }
        let device = |index| {
            let sim = Device::new(shape.clone());
            Arc::new(DeviceState {
                index,
                sim,
                shape: shape.clone(),
                primary: Mutex::default(),
                flags: AtomicU32::new(0),
            })
        };
        Driver {
            devices: (0..devices as usize).map(device).collect(),
            version,
            quiet,
            contexts: Table::new(),
            streams: Table::new(),
            events: Table::new(),
            modules: Table::new(),
            functions: Table::new(),
            graphs: Table::new(),
            executables: Table::new(),
            texts: Mutex::default(),
            initialised: AtomicBool::new(false),
        }
    }

    /// The decoded text.
    pub(crate) fn decode(&self, text: String) -> Result<Arc<Module>, LoadError> {
        if let Some((_, module)) = lock(&self.texts).iter().find(|(known, _)| *known == text) {
            return Ok(Arc::clone(module));
        }
        let module = Arc::new(Module::parse(&text)?);
        let mut texts = lock(&self.texts);
        if texts.len() == TEXTS {
            texts.remove(0);
        }
        texts.push((text, Arc::clone(&module)));
        Ok(module)
    }

    /// The device with this ordinal.
    pub(crate) fn device(&self, ordinal: i32) -> Result<&Arc<DeviceState>, Error> {
        if !self.initialised.load(Ordering::SeqCst) {
            return Err(Error::NOT_INITIALIZED);
        }
        usize::try_from(ordinal)
            .ok()
            .and_then(|index| self.devices.get(index))
            .ok_or(Error::INVALID_DEVICE)
    }

    pub(crate) fn create_context(&self, device: &Arc<DeviceState>) -> u64 {
        self.contexts.add(Context::new(device))
    }

    pub(crate) fn destroy_context(&self, handle: u64) -> Result<(), Error> {
        let context = self.contexts.remove(handle).map_err(|_| Error::INVALID_CONTEXT)?;
        context.wait();
        context.end();
        Ok(())
    }

    /// The primary context, made if there is none.
    pub(crate) fn retain(&self, device: &Arc<DeviceState>) -> u64 {
        let mut primary = lock(&device.primary);
        let (handle, count) = primary.get_or_insert_with(|| (self.create_context(device), 0));
        *count += 1;
        *handle
    }

    /// Gives it back; with the last one it ends.
    pub(crate) fn release(&self, device: &DeviceState) -> Result<(), Error> {
        let mut primary = lock(&device.primary);
        let Some((handle, count)) = primary.as_mut() else {
            return Err(Error::INVALID_CONTEXT);
        };
        *count -= 1;
        if *count == 0 {
            let handle = *handle;
            *primary = None;
            self.destroy_context(handle)?;
        }
        Ok(())
    }

    /// Ends it, whoever holds it.
    pub(crate) fn reset(&self, device: &DeviceState) -> Result<(), Error> {
        match lock(&device.primary).take() {
            Some((handle, _)) => self.destroy_context(handle),
            None => Ok(()),
        }
    }

    pub(crate) fn primary_is_active(&self, device: &DeviceState) -> bool {
        lock(&device.primary).is_some()
    }
}

/// The one driver of the process.
pub(crate) fn driver() -> &'static Driver {
    static DRIVER: OnceLock<Driver> = OnceLock::new();
    DRIVER.get_or_init(Driver::new)
}

thread_local! {
    /// Contexts that are current in this thread; the last one counts.
    static CURRENT: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// The stack of current contexts.
pub(crate) fn with_current<R>(f: impl FnOnce(&mut Vec<u64>) -> R) -> R {
    CURRENT.with(|stack| f(&mut stack.borrow_mut()))
}

/// The current context, whatever state it is in.
pub(crate) fn current() -> Result<Arc<Context>, Error> {
    if !driver().initialised.load(Ordering::SeqCst) {
        return Err(Error::NOT_INITIALIZED);
    }
    let handle = with_current(|stack| stack.last().copied())
        .filter(|&h| h != 0)
        .ok_or(Error::INVALID_CONTEXT)?;
    driver().contexts.get(handle).map_err(|_| Error::CONTEXT_IS_DESTROYED)
}

/// The current context, if nothing has failed in it.
pub(crate) fn healthy() -> Result<Arc<Context>, Error> {
    let context = current()?;
    context.check()?;
    Ok(context)
}

/// The stream of a handle: zero and one are the current context's legacy stream, two that of the thread, which is the same here.
pub(crate) fn stream(handle: u64) -> Result<(Arc<Context>, Arc<Stream>), Error> {
    if handle <= 2 {
        let context = healthy()?;
        let stream = Arc::clone(&context.legacy);
        return Ok((context, stream));
    }
    let stream = driver().streams.get(handle)?;
    let context = stream
        .context
        .upgrade()
        .filter(|c| !c.destroyed.load(Ordering::SeqCst))
        .ok_or(Error::CONTEXT_IS_DESTROYED)?;
    context.check()?;
    Ok((context, stream))
}
