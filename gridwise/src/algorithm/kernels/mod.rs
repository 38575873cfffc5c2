//! The kernel halves of the algorithms: what compiles for a device, too.
//!
//! A GPU cannot run what the program's own compiler makes of them, so they are compiled ahead and shipped. The list of what is
//! in that module is here, once; it is expanded to the table of the host and, in `tools/prebuilt`, to the entries of the device.

pub mod bicgstab;
pub mod breadth_first;
pub mod conjugate_gradients;
pub(crate) mod entries;
pub(crate) mod rows;
pub(crate) mod run;
pub mod scan;
pub mod select;
pub mod sparse_product;

/// The library's own kernels.
#[macro_export]
#[doc(hidden)]
macro_rules! export_library {
    ($(#[$doc:meta])* $vis:vis $table:ident) => {
        $crate::export! {
            $(#[$doc])*
            $vis $table:
            "gridwise_measure_barriers" = grid_kernel $crate::kernel::measure::Barriers<'static>;
            "gridwise_measure_launch" = kernel $crate::kernel::measure::Nothing, empty;
            "gridwise_conjugate_gradients" = phased $crate::algorithm::kernels::conjugate_gradients::Kernel<'static>;
            "gridwise_bicgstab" = phased $crate::algorithm::kernels::bicgstab::Kernel<'static>;
            "gridwise_sparse_product" = kernel $crate::algorithm::kernels::sparse_product::Product<'static>;
            "gridwise_scan_u32" = kernel $crate::algorithm::kernels::scan::Scan<'static, u32, $crate::algorithm::operator::Sum>;
            "gridwise_scan_u64" = kernel $crate::algorithm::kernels::scan::Scan<'static, u64, $crate::algorithm::operator::Sum>;
            "gridwise_scan_f32" = kernel $crate::algorithm::kernels::scan::Scan<'static, f32, $crate::algorithm::operator::Sum>;
            "gridwise_scan_f64" = kernel $crate::algorithm::kernels::scan::Scan<'static, f64, $crate::algorithm::operator::Sum>;
            "gridwise_breadth_first" = phased $crate::algorithm::kernels::breadth_first::Levels<'static>;
        }
    };
}
