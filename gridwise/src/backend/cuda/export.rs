//! The list of kernels that a module is compiled from.

/// Names the kernels that a crate compiles for the device, and makes a table of them for the host.
///
/// A kernel is generic over what it runs on; a device needs each one compiled, under a name. This is the list: kernel types,
/// with concrete parameters and `'static` for every lifetime (a launch may use any), after what they are: `kernel`
/// ([`Kernel`](crate::kernel::Kernel)), `grid_kernel` ([`GridKernel`](crate::kernel::GridKernel)), `phased`
/// ([`Phased`](crate::kernel::Phased): both structures are compiled) or `tasks` ([`Tasks`](crate::kernel::Tasks)).
///
/// ```
/// # use gridwise::prelude::*;
/// #[repr(C)]
/// pub struct Double<'a> {
///     data: SpanMut<'a, i32>,
/// }
///
/// // SAFETY: `data[i]` is accessed only by the one thread that owns `i`.
/// unsafe impl Kernel for Double<'_> {
///     const NAME: &'static str = "double";
///     type Shared = ();
///
///     fn run<A: Acc>(self, acc: A, _: ()) {
///         for i in acc.threads_in_grid(0..self.data.len()) {
///             self.data.set(acc, i, 2 * self.data.get(acc, i));
///         }
///     }
/// }
///
/// gridwise::export! {
///     /// What is in the module.
///     pub KERNELS:
///     "double" = kernel Double<'static>;
/// }
/// ```
///
/// It stands in a crate of its own that holds the kernels, is `no_std`, and depends on gridwise with
/// `default-features = false`. Compiled for the device (see the crate `gridwise-ptx`) the list becomes entries of the module;
/// compiled for the host it becomes the table, a `static` of type [`Exports`](crate::Exports). The names have to be C
/// identifiers that no other line and no other crate of the module uses.
///
/// # What is checked
///
/// The host and the device are compiled by two compilers, which have to lay out a kernel alike.
///
/// * A kernel that is not `repr(C)`, or has a field of unspecified layout (a tuple, `Option<u32>`, a struct without
///   `repr(C)`), does not compile: `export!` hands it to the compiler's own lint `improper_ctypes_definitions`. The lint
///   refuses a kernel without any field, too: that is written `"nothing" = kernel Nothing, empty;`. What the lint cannot see
///   into are types behind pointers: elements of buffers are [`Pod`](crate::Pod), which asks for `repr(C)` by itself.
/// * Sizes are compared when a module is loaded: each entry carries the [`Layout`](crate::Layout) it was compiled with. That
///   notices a module that was compiled from another version of the source, unless sizes happen to agree.
/// * A kernel of more than about 4000 bytes does not compile.
///
/// ```compile_fail
/// # use gridwise::prelude::*;
/// pub struct NotReprC<'a> {
///     data: SpanMut<'a, i32>,
/// }
/// gridwise::export! { pub KERNELS: "not_repr_c" = kernel NotReprC<'static>; }
/// ```
#[macro_export]
macro_rules! export {
    ($(#[$doc:meta])* $vis:vis $table:ident: $($name:literal = $form:ident $kernel:ty $(, $empty:ident)?;)*) => {
        $(
            $crate::export!(@check $kernel $(, $empty)?);
            $crate::export!(@device $form $name $kernel);
        )*

        $(#[$doc])*
        $vis static $table: $crate::Exports = $crate::Exports::new(&[$($crate::export!(@host $form $name $kernel)),*]);
    };

    (@check $kernel:ty) => {
        const _: () = {
            #[allow(dead_code)] // It is there to be looked at by the lint.
            #[deny(improper_ctypes_definitions)]
            extern "C" fn is_repr_c(_: $kernel) {}
        };
    };
    (@check $kernel:ty, empty) => {
        const _: () = assert!(size_of::<$kernel>() == 0, "a kernel that is said to be empty has a field");
    };

    (@host kernel $name:literal $kernel:ty) => { $crate::export!(@table (Plain, $name, $kernel)) };
    (@host grid_kernel $name:literal $kernel:ty) => { $crate::export!(@table (Cooperative, $name, $kernel)) };
    (@host phased $name:literal $kernel:ty) => {
        $crate::export!(@table
            (Cooperative, concat!($name, "__persistent"), $crate::export_support::PersistentForm<'static, $kernel>)
            (Plain, concat!($name, "__relaunch"), $crate::export_support::RelaunchForm<'static, $kernel>))
    };
    (@host tasks $name:literal $kernel:ty) => {
        $crate::export!(@table (Plain, concat!($name, "__tasks"), $crate::export_support::TaskForm<'static, $kernel>))
    };
    (@table $(($form:ident, $name:expr, $kernel:ty))*) => {
        &[$($crate::Entry::new::<$kernel>($crate::Form::$form, $name, concat!($name, "__layout"))),*]
    };

    (@device kernel $name:literal $kernel:ty) => { $crate::export!(@entry run_kernel ($name) $kernel); };
    (@device grid_kernel $name:literal $kernel:ty) => { $crate::export!(@entry run_grid_kernel ($name) $kernel); };
    (@device phased $name:literal $kernel:ty) => {
        $crate::export!(@entry run_grid_kernel ($name, "__persistent")
            $crate::export_support::PersistentForm<'static, $kernel>);
        $crate::export!(@entry run_kernel ($name, "__relaunch") $crate::export_support::RelaunchForm<'static, $kernel>);
    };
    (@device tasks $name:literal $kernel:ty) => {
        $crate::export!(@entry run_kernel ($name, "__tasks") $crate::export_support::TaskForm<'static, $kernel>);
    };
    (@entry $run:ident ($($name:literal),*) $kernel:ty) => {
        #[cfg(target_arch = "nvptx64")]
        const _: () = {
            #[unsafe(export_name = concat!($($name),*))]
            #[allow(improper_ctypes_definitions)] // Checked above, without what the library adds.
            unsafe extern "ptx-kernel" fn entry(parameters: $crate::export_support::Parameters<$kernel>) {
                // SAFETY: the host launches it with what the library has put together, once for each thread.
                unsafe { $crate::export_support::$run(parameters) }
            }

            #[unsafe(export_name = concat!($($name,)* "__layout"))]
            static LAYOUT: $crate::Layout = $crate::Layout::of::<$kernel>();
        };
    };
}
