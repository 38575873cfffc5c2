//! The kernel halves of the algorithms: what compiles for a device, too.
//!
//! A GPU cannot run what the program's own compiler makes of them, so they are compiled ahead and shipped. The list of what is
//! in that module is here, once; it is expanded to the table of the host and, in `tools/prebuilt`, to the entries of the device.

pub mod bicgstab;
pub mod breadth_first;
pub mod conjugate_gradients;
pub(crate) mod entries;
pub mod histogram;
pub mod reduce;
pub(crate) mod rows;
pub(crate) mod run;
pub mod scan;
pub mod select;
pub mod sort;
pub mod sparse_product;
pub(crate) mod tiles;

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
            "gridwise_reduce_sum_u32" = kernel $crate::algorithm::kernels::reduce::Reduction<
                'static, u32, u32, $crate::algorithm::operator::Unchanged, $crate::algorithm::operator::Sum>;
            "gridwise_reduce_min_u32" = kernel $crate::algorithm::kernels::reduce::Reduction<
                'static, u32, u32, $crate::algorithm::operator::Unchanged, $crate::algorithm::operator::Min>;
            "gridwise_reduce_max_u32" = kernel $crate::algorithm::kernels::reduce::Reduction<
                'static, u32, u32, $crate::algorithm::operator::Unchanged, $crate::algorithm::operator::Max>;
            "gridwise_reduce_sum_u64" = kernel $crate::algorithm::kernels::reduce::Reduction<
                'static, u64, u64, $crate::algorithm::operator::Unchanged, $crate::algorithm::operator::Sum>;
            "gridwise_reduce_min_u64" = kernel $crate::algorithm::kernels::reduce::Reduction<
                'static, u64, u64, $crate::algorithm::operator::Unchanged, $crate::algorithm::operator::Min>;
            "gridwise_reduce_max_u64" = kernel $crate::algorithm::kernels::reduce::Reduction<
                'static, u64, u64, $crate::algorithm::operator::Unchanged, $crate::algorithm::operator::Max>;
            "gridwise_reduce_sum_f32" = kernel $crate::algorithm::kernels::reduce::Reduction<
                'static, f32, f32, $crate::algorithm::operator::Unchanged, $crate::algorithm::operator::Sum>;
            "gridwise_reduce_min_f32" = kernel $crate::algorithm::kernels::reduce::Reduction<
                'static, f32, f32, $crate::algorithm::operator::Unchanged, $crate::algorithm::operator::Min>;
            "gridwise_reduce_max_f32" = kernel $crate::algorithm::kernels::reduce::Reduction<
                'static, f32, f32, $crate::algorithm::operator::Unchanged, $crate::algorithm::operator::Max>;
            "gridwise_reduce_sum_f64" = kernel $crate::algorithm::kernels::reduce::Reduction<
                'static, f64, f64, $crate::algorithm::operator::Unchanged, $crate::algorithm::operator::Sum>;
            "gridwise_reduce_min_f64" = kernel $crate::algorithm::kernels::reduce::Reduction<
                'static, f64, f64, $crate::algorithm::operator::Unchanged, $crate::algorithm::operator::Min>;
            "gridwise_reduce_max_f64" = kernel $crate::algorithm::kernels::reduce::Reduction<
                'static, f64, f64, $crate::algorithm::operator::Unchanged, $crate::algorithm::operator::Max>;
            "gridwise_histogram_u8" = phased $crate::algorithm::kernels::histogram::Counting<
                'static, u8, $crate::algorithm::operator::AsIndex>;
            "gridwise_histogram_u32" = phased $crate::algorithm::kernels::histogram::Counting<
                'static, u32, $crate::algorithm::operator::AsIndex>;
            "gridwise_sort_u32" = phased $crate::algorithm::kernels::sort::Sorting<'static, u32, ()>;
            "gridwise_sort_u64" = phased $crate::algorithm::kernels::sort::Sorting<'static, u64, ()>;
            "gridwise_sort_f32" = phased $crate::algorithm::kernels::sort::Sorting<'static, f32, ()>;
        }
    };
}
