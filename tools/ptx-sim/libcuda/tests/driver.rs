//! The driver library as a program finds it: loaded at run time, called through its C functions.

use std::ffi::{CString, c_char, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: i32) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

fn library() -> *mut c_void {
    static LIBRARY: OnceLock<usize> = OnceLock::new();
    let address = LIBRARY.get_or_init(|| {
        // SAFETY: the first call comes before any test has started a thread that reads the environment, and all tests wait for it.
        unsafe {
            std::env::set_var(
                "PTX_SIM",
                "mps=2,blocks=2,cc=8.0,patience=60000,polls=10000,quiet=1,memory=64",
            )
        };
        let test = std::env::current_exe().unwrap();
        let folder = test.parent().unwrap();
        let path = [folder, folder.parent().unwrap()]
            .map(|f| f.join("libptx_sim_cuda.so"))
            .into_iter()
            .find(|p| p.exists());
        let path = CString::new(path.expect("the library is built with its tests").to_str().unwrap()).unwrap();
        // SAFETY: the library's start does nothing.
        let library = unsafe { dlopen(path.as_ptr(), 2) };
        assert!(!library.is_null());
        library as usize
    });
    *address as *mut c_void
}

/// Calls a function of the driver; its code.
macro_rules! cu {
    ($name:ident($($argument:expr => $ty:ty),* $(,)?)) => {{
        let name = CString::new(stringify!($name)).unwrap();
        // SAFETY: the library is loaded for good.
        let symbol = unsafe { dlsym(library(), name.as_ptr()) };
        assert!(!symbol.is_null(), stringify!($name));
        // SAFETY: the driver's function of this name has this type.
        let function = unsafe { std::mem::transmute::<*mut c_void, extern "C" fn($($ty),*) -> u32>(symbol) };
        function($($argument),*)
    }};
}

const MODULE: &str = "
.version 7.8
.target sm_70
.address_size 64
.visible .global .align 4 .u32 table[3] = {7, 8, 9};
.visible .entry add(.param .u64 add_param_0, .param .u32 add_param_1)
{
    .reg .b32 %r<8>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [add_param_0];
    ld.param.u32 %r1, [add_param_1];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r2, %r2, %r3, %r4;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd1, %rd1, %rd2;
    ld.global.u32 %r5, [%rd1];
    add.u32 %r5, %r5, %r1;
    st.global.u32 [%rd1], %r5;
    ret;
}
.visible .entry wait(.param .u64 wait_param_0, .param .u32 wait_param_1)
{
    .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [wait_param_0];
    ld.param.u32 %r1, [wait_param_1];
L:  ld.acquire.sys.global.u32 %r2, [%rd1];
    setp.ne.u32 %p1, %r2, %r1;
    @%p1 bra L;
    ret;
}
.visible .entry broken(.param .u64 broken_param_0, .param .u32 broken_param_1) { trap; }
";

/// A context of a test's own, current in its thread, with the module.
struct Context {
    module: u64,
}

impl Context {
    fn new() -> Context {
        assert_eq!(cu!(cuInit(0 => u32)), 0);
        let (mut context, mut module) = (0_u64, 0_u64);
        assert_eq!(cu!(cuCtxCreate_v2(&mut context => &mut u64, 0 => u32, 0 => i32)), 0);
        let text = CString::new(MODULE).unwrap();
        assert_eq!(
            cu!(cuModuleLoadData(&mut module => &mut u64, text.as_ptr() => *const c_char)),
            0
        );
        Context { module }
    }

    fn function(&self, name: &str) -> u64 {
        let (mut function, name) = (0_u64, CString::new(name).unwrap());
        assert_eq!(
            cu!(cuModuleGetFunction(&mut function => &mut u64, self.module => u64, name.as_ptr() => *const c_char)),
            0
        );
        function
    }

    fn stream(&self) -> u64 {
        let mut stream = 0_u64;
        assert_eq!(cu!(cuStreamCreate(&mut stream => &mut u64, 1 => u32)), 0);
        stream
    }

    fn buffer(&self, words: usize) -> u64 {
        let mut address = 0_u64;
        assert_eq!(cu!(cuMemAlloc_v2(&mut address => &mut u64, words * 4 => usize)), 0);
        assert_eq!(cu!(cuMemsetD32_v2(address => u64, 1 => u32, words => usize)), 0);
        address
    }

    /// A word of the host's that kernels see.
    fn mapped(&self) -> &'static AtomicU32 {
        let mut address = 0_u64;
        assert_eq!(cu!(cuMemHostAlloc(&mut address => &mut u64, 4 => usize, 2 => u32)), 0);
        // SAFETY: four bytes, aligned, allocated and never freed.
        let word = unsafe { AtomicU32::from_ptr(address as *mut u32) };
        word.store(0, Ordering::SeqCst);
        word
    }

    fn launch_on(
        &self,
        function: u64,
        [x, y, shared]: [u32; 3],
        stream: u64,
        address: u64,
        word: u32,
        cooperative: bool,
    ) -> u32 {
        let mut pointers = [(&raw const address).cast::<c_void>(), (&raw const word).cast()];
        let pointers = pointers.as_mut_ptr();
        if cooperative {
            return cu!(cuLaunchCooperativeKernel(function => u64, x => u32, 1 => u32, 1 => u32, y => u32, 1 => u32, 1 => u32, shared => u32, stream => u64, pointers => *mut *const c_void));
        }
        cu!(cuLaunchKernel(function => u64, x => u32, 1 => u32, 1 => u32, y => u32, 1 => u32, 1 => u32, shared => u32, stream => u64, pointers => *mut *const c_void, 0 => u64))
    }

    fn launch(&self, name: &str, stream: u64, address: u64, word: u32) -> u32 {
        self.launch_on(self.function(name), [2, 32, 0], stream, address, word, false)
    }

    fn download(&self, address: u64, words: usize) -> Vec<u32> {
        let mut out = vec![0_u32; words];
        assert_eq!(
            cu!(cuMemcpyDtoH_v2(out.as_mut_ptr() => *mut u32, address => u64, words * 4 => usize)),
            0
        );
        out
    }
}

fn synchronize(stream: u64) -> u32 {
    cu!(cuStreamSynchronize(stream => u64))
}

#[test]
fn work_is_done_in_stream_order() {
    let context = Context::new();
    let (stream, buffer) = (context.stream(), context.buffer(64));
    let input: Vec<u32> = (0..64).collect();
    assert_eq!(
        cu!(cuMemcpyHtoDAsync_v2(buffer => u64, input.as_ptr() => *const u32, 256 => usize, stream => u64)),
        0
    );
    for word in [10, 20] {
        assert_eq!(context.launch("add", stream, buffer, word), 0);
    }
    let mut output = vec![0_u32; 64];
    assert_eq!(
        cu!(cuMemcpyDtoHAsync_v2(output.as_mut_ptr() => *mut u32, buffer => u64, 256 => usize, stream => u64)),
        0
    );
    assert_eq!(synchronize(stream), 0);
    assert_eq!(output, (30..94).collect::<Vec<u32>>());
}

#[test]
fn a_kernel_waits_for_a_word_that_the_host_sets_later() {
    let context = Context::new();
    let (stream, word) = (context.stream(), context.mapped());
    assert_eq!(context.launch("wait", stream, word.as_ptr() as u64, 7), 0);
    assert_eq!(cu!(cuStreamQuery(stream => u64)), 600);
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(cu!(cuStreamQuery(stream => u64)), 600);
    word.store(7, Ordering::SeqCst);
    assert_eq!(synchronize(stream), 0);
    assert_eq!(cu!(cuStreamQuery(stream => u64)), 0);
}

#[test]
fn a_stream_waits_for_an_event_of_another() {
    let context = Context::new();
    let (first, second, word, buffer) = (context.stream(), context.stream(), context.mapped(), context.buffer(64));
    let mut events = [0_u64; 2];
    for event in &mut events {
        assert_eq!(cu!(cuEventCreate(event => &mut u64, 0 => u32)), 0);
    }
    assert_eq!(cu!(cuEventRecord(events[0] => u64, first => u64)), 0);
    assert_eq!(context.launch("wait", first, word.as_ptr() as u64, 1), 0);
    assert_eq!(cu!(cuEventRecord(events[1] => u64, first => u64)), 0);
    assert_eq!(cu!(cuStreamWaitEvent(second => u64, events[1] => u64, 0 => u32)), 0);
    assert_eq!(context.launch("add", second, buffer, 5), 0);
    // The stream comes to the first event when it gets to it: what is slept before that would not be between the two.
    assert_eq!(cu!(cuEventSynchronize(events[0] => u64)), 0);
    std::thread::sleep(Duration::from_millis(30));
    assert_eq!(
        (cu!(cuStreamQuery(second => u64)), cu!(cuEventQuery(events[1] => u64))),
        (600, 600)
    );
    let mut milliseconds = 0.0_f32;
    assert_eq!(
        cu!(cuEventElapsedTime(&mut milliseconds => &mut f32, events[0] => u64, events[1] => u64)),
        600
    );
    word.store(1, Ordering::SeqCst);
    assert_eq!(synchronize(second), 0);
    assert_eq!(context.download(buffer, 64), [6; 64]);
    assert_eq!(
        cu!(cuEventElapsedTime(&mut milliseconds => &mut f32, events[0] => u64, events[1] => u64)),
        0
    );
    assert!(milliseconds >= 30.0);
}

#[test]
fn a_trap_sticks_to_its_context_and_says_where() {
    let context = Context::new();
    let stream = context.stream();
    assert_eq!(context.launch("broken", stream, 0, 0), 0);
    assert_eq!(synchronize(stream), 719);
    let mut address = 0_u64;
    assert_eq!(cu!(cuMemAlloc_v2(&mut address => &mut u64, 4 => usize)), 719);
    assert_eq!(cu!(cuCtxSynchronize()), 719);
    let mut report = [0_u8; 200];
    assert_eq!(cu!(ptxSimLastReport(report.as_mut_ptr() => *mut u8, 200 => usize)), 0);
    assert!(
        String::from_utf8_lossy(&report).contains("trap in `broken`"),
        "{}",
        String::from_utf8_lossy(&report)
    );
    // Another context is well.
    let other = Context::new();
    let buffer = other.buffer(64);
    assert_eq!(other.launch("add", 0, buffer, 1), 0);
    assert_eq!(other.download(buffer, 64), [2; 64]);
}

#[test]
fn a_kernel_that_leaves_its_buffer_is_an_illegal_address() {
    let context = Context::new();
    let buffer = context.buffer(63);
    assert_eq!(context.launch("add", 0, buffer, 1), 0);
    assert_eq!(cu!(cuCtxSynchronize()), 700);
}

#[test]
fn a_captured_stream_becomes_a_graph_that_runs_again() {
    let context = Context::new();
    let (stream, other, buffer) = (context.stream(), context.stream(), context.buffer(64));
    let mut event = 0_u64;
    assert_eq!(cu!(cuEventCreate(&mut event => &mut u64, 2 => u32)), 0);
    assert_eq!(cu!(cuStreamBeginCapture_v2(stream => u64, 2 => u32)), 0);
    let mut state = 0_u32;
    assert_eq!(cu!(cuStreamIsCapturing(stream => u64, &mut state => &mut u32)), 0);
    assert_eq!(state, 1);
    assert_eq!(context.launch("add", stream, buffer, 10), 0);
    // Another stream takes part by way of an event.
    assert_eq!(cu!(cuEventRecord(event => u64, stream => u64)), 0);
    assert_eq!(cu!(cuStreamWaitEvent(other => u64, event => u64, 0 => u32)), 0);
    assert_eq!(context.launch("add", other, buffer, 100), 0);
    assert_eq!(cu!(cuEventRecord(event => u64, other => u64)), 0);
    assert_eq!(cu!(cuStreamWaitEvent(stream => u64, event => u64, 0 => u32)), 0);
    let (mut graph, mut executable, mut nodes) = (0_u64, 0_u64, 0_usize);
    assert_eq!(cu!(cuStreamEndCapture(stream => u64, &mut graph => &mut u64)), 0);
    assert_eq!(
        cu!(cuGraphGetNodes(graph => u64, 0 => u64, &mut nodes => &mut usize)),
        0
    );
    assert!(nodes >= 2);
    assert_eq!(
        cu!(cuGraphInstantiateWithFlags(&mut executable => &mut u64, graph => u64, 0 => u64)),
        0
    );
    assert_eq!(cu!(cuGraphDestroy(graph => u64)), 0);
    // Nothing was done yet.
    assert_eq!(context.download(buffer, 64), [1; 64]);
    for _ in 0..3 {
        assert_eq!(cu!(cuGraphLaunch(executable => u64, stream => u64)), 0);
    }
    assert_eq!(synchronize(stream), 0);
    assert_eq!(context.download(buffer, 64), [331; 64]);
    assert_eq!(cu!(cuGraphExecDestroy(executable => u64)), 0);
    assert_eq!(cu!(cuGraphLaunch(executable => u64, stream => u64)), 400);
}

#[test]
fn waiting_for_a_captured_stream_spoils_the_capture() {
    let context = Context::new();
    let stream = context.stream();
    assert_eq!(cu!(cuStreamBeginCapture_v2(0 => u64, 2 => u32)), 900);
    assert_eq!(cu!(cuStreamBeginCapture_v2(stream => u64, 2 => u32)), 0);
    assert_eq!(synchronize(stream), 900);
    let mut graph = 0_u64;
    assert_eq!(cu!(cuStreamEndCapture(stream => u64, &mut graph => &mut u64)), 901);
    assert_eq!(synchronize(stream), 0);
}

#[test]
fn launches_are_checked_as_the_driver_does() {
    let context = Context::new();
    let function = context.function("add");
    let buffer = context.buffer(2000);
    let launch = |blocks, threads, shared, cooperative| {
        context.launch_on(function, [blocks, threads, shared], 0, buffer, 1, cooperative)
    };
    assert_eq!(launch(0, 32, 0, false), 1);
    assert_eq!(launch(1, 1025, 0, false), 1);
    // More than 48 KiB of shared memory has to be asked for.
    assert_eq!(launch(1, 32, 50_000, false), 1);
    assert_eq!(cu!(cuFuncSetAttribute(function => u64, 8 => u32, 200_000 => i32)), 1);
    assert_eq!(cu!(cuFuncSetAttribute(function => u64, 8 => u32, 50_000 => i32)), 0);
    assert_eq!(launch(1, 32, 50_000, false), 0);
    // Two multiprocessors hold two blocks each; with much shared memory one each.
    assert_eq!(launch(4, 32, 0, true), 0);
    assert_eq!(launch(5, 32, 0, true), 720);
    assert_eq!(launch(3, 32, 50_000, true), 720);
    let mut blocks = 0_i32;
    assert_eq!(
        cu!(cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks => &mut i32, function => u64, 32 => i32, 50_000 => usize)),
        0
    );
    assert_eq!(blocks, 1);
    assert_eq!(context.launch_on(12345, [1, 32, 0], 0, buffer, 1, false), 400);
    assert_eq!(
        cu!(cuLaunchKernel(function => u64, 1 => u32, 1 => u32, 1 => u32, 1 => u32, 1 => u32, 1 => u32, 0 => u32, 0 => u64, 0 => u64, 0 => u64)),
        1
    );
    assert_eq!(cu!(cuCtxSynchronize()), 0);
}

#[test]
fn parameters_come_in_one_buffer_too() {
    let context = Context::new();
    let buffer = context.buffer(64);
    let mut bytes = buffer.to_le_bytes().to_vec();
    bytes.extend(4_u32.to_le_bytes());
    let size = bytes.len();
    let extra = [1_usize, bytes.as_ptr() as usize, 2, &raw const size as usize, 0];
    let function = context.function("add");
    assert_eq!(
        cu!(cuLaunchKernel(function => u64, 2 => u32, 1 => u32, 1 => u32, 32 => u32, 1 => u32, 1 => u32, 0 => u32, 0 => u64, 0 => u64, extra.as_ptr() => *const usize)),
        0
    );
    assert_eq!(context.download(buffer, 64), [5; 64]);
}

#[test]
fn a_text_that_is_not_known_leaves_its_line_in_the_log() {
    Context::new();
    let text = CString::new(MODULE.replace("trap;", "\nfrobnicate.b32 1;")).unwrap();
    let mut log = vec![0_u8; 200];
    let (mut options, mut module) = ([5_u32, 6], 0_u64);
    let mut values = [log.as_mut_ptr() as usize, log.len()];
    let code = cu!(cuModuleLoadDataEx(&mut module => &mut u64, text.as_ptr() => *const c_char, 2 => u32, options.as_mut_ptr() => *mut u32, values.as_mut_ptr() => *mut usize));
    let line = MODULE.lines().position(|l| l.contains("trap;")).unwrap() + 2;
    let log = String::from_utf8(log[..values[1]].to_vec()).unwrap();
    assert_eq!(code, 218);
    assert!(
        log.contains(&format!("line {line}")) && log.contains("`frobnicate.b32`"),
        "{log}"
    );
    // Texts from after this driver's time, and for other machines.
    let newer = CString::new(MODULE.replace("7.8", "9.9")).unwrap();
    assert_eq!(
        cu!(cuModuleLoadData(&mut module => &mut u64, newer.as_ptr() => *const c_char)),
        222
    );
    let other = CString::new(MODULE.replace("sm_70", "sm_90")).unwrap();
    assert_eq!(
        cu!(cuModuleLoadData(&mut module => &mut u64, other.as_ptr() => *const c_char)),
        218
    );
}

#[test]
fn modules_tell_of_their_variables_and_kernels() {
    let context = Context::new();
    let (mut address, mut bytes) = (0_u64, 0_usize);
    assert_eq!(
        cu!(cuModuleGetGlobal_v2(&mut address => &mut u64, &mut bytes => &mut usize, context.module => u64, c"table".as_ptr() => *const c_char)),
        0
    );
    assert_eq!((bytes, context.download(address, 3)), (12, vec![7, 8, 9]));
    let (mut offset, mut size, function) = (0_usize, 0_usize, context.function("add"));
    assert_eq!(
        cu!(cuFuncGetParamInfo(function => u64, 1 => usize, &mut offset => &mut usize, &mut size => &mut usize)),
        0
    );
    assert_eq!((offset, size), (8, 4));
    assert_eq!(
        cu!(cuFuncGetParamInfo(function => u64, 2 => usize, &mut offset => &mut usize, &mut size => &mut usize)),
        1
    );
    let mut none = 0_u64;
    assert_eq!(
        cu!(cuModuleGetFunction(&mut none => &mut u64, context.module => u64, c"none".as_ptr() => *const c_char)),
        500
    );
}

#[test]
fn memory_runs_out_and_what_is_not_allocated_is_refused() {
    Context::new();
    let mut address = 0_u64;
    assert_eq!(cu!(cuMemAlloc_v2(&mut address => &mut u64, 65 << 20 => usize)), 2);
    assert_eq!(cu!(cuMemAlloc_v2(&mut address => &mut u64, 0 => usize)), 1);
    assert_eq!(cu!(cuMemAlloc_v2(&mut address => &mut u64, 64 => usize)), 0);
    assert_eq!(cu!(cuMemsetD8_v2(address => u64, 0 => u8, 65 => usize)), 1);
    assert_eq!(cu!(cuMemFree_v2(address + 4 => u64)), 1);
    assert_eq!(cu!(cuMemFree_v2(address => u64)), 0);
    assert_eq!(cu!(cuMemFree_v2(address => u64)), 1);
}

#[test]
fn a_kernel_that_waits_for_nobody_times_out() {
    let context = Context::new();
    let buffer = context.buffer(1);
    let start = Instant::now();
    assert_eq!(context.launch("wait", 0, buffer, 9), 0);
    // Another test's kernel may run at the same time, and count as hope.
    assert_eq!(cu!(cuCtxSynchronize()), 702);
    assert!(start.elapsed() < Duration::from_secs(300));
}
