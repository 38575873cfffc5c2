//! What is compiled for devices.

use gridwise::{
    algorithm::{
        kernels::{histogram::Counting, reduce::Reduction, scan::Scan, select::Select, sort::Sorting},
        operator::Max,
    },
    kernel::{ChunkCounter, TwoLevelQueue, scope},
};

use crate::*;

gridwise::export! {
    /// The module of the suite.
    pub KERNELS:
    "gb_rotate" = grid_kernel grid_barrier::Rotate<'static>;
    "gb_all_see_all" = grid_kernel grid_barrier::AllSeeAll<'static>;
    "gb_fails_between" = grid_kernel grid_barrier::FailsBetween;
    "gb_uneven" = grid_kernel grid_barrier::Uneven;
    "gb_residuals" = grid_kernel grid_barrier::Residuals<'static>;

    "bb_leaves_early" = kernel block_barrier::LeavesEarly<'static>;
    "bb_under_a_condition" = kernel block_barrier::UnderACondition;
    "bb_halving" = kernel block_barrier::Halving<'static>;
    "bb_loops" = kernel block_barrier::Loops<'static>;
    "bb_branches" = kernel block_barrier::Branches<'static>;
    "bb_votes" = kernel block_barrier::Votes<'static>;
    "bb_vote_orders" = kernel block_barrier::VoteOrders<'static>;

    "al_reduce_affine" = kernel Reduction<'static, u32, support::Affine, algorithms::AffineOf, support::Then>;
    "al_histogram_modulo" = phased Counting<'static, u32, algorithms::Modulo>;
    "al_sort_card" = phased Sorting<'static, algorithms::Card, ()>;
    "al_sort_by_key" = phased Sorting<'static, u32, u32>;

    "sm_reverse" = kernel shared_memory::Reverse<'static>;
    "sm_neighbours" = kernel shared_memory::Neighbours<'static>;
    "sm_several" = kernel shared_memory::Several<'static>;
    "sm_slices" = kernel shared_memory::Slices<'static>;
    "sm_own_index" = kernel shared_memory::OwnIndex<'static>;
    "sm_items" = kernel shared_memory::Items<'static>;
    "sm_histogram" = kernel shared_memory::Histogram<'static>;
    "sm_past_the_end" = kernel shared_memory::PastTheEnd, empty;

    "co_broadcast" = kernel collectives::Broadcast<'static>;
    "co_block" = kernel collectives::BlockCollectives<'static>;
    "co_back_to_back" = kernel collectives::BackToBack<'static>;
    "co_grid_affine" = grid_kernel collectives::GridReductions<'static, support::Affine>;
    "co_grid_f64" = grid_kernel collectives::GridReductions<'static, f64>;
    "co_grid_u64" = grid_kernel collectives::GridReductions<'static, u64>;
    "co_large" = grid_kernel collectives::LargeValues<'static>;
    "co_warps" = kernel collectives::Warps<'static>;

    "su_sum" = grid_kernel sums::Sum<'static>;
    "su_scan_in_place" = grid_kernel sums::ScanInPlace<'static>;

    "at_sequence_u32_block" = kernel atomics::Sequence<'static, u32, scope::Block>;
    "at_sequence_u32_device" = kernel atomics::Sequence<'static, u32, scope::Device>;
    "at_sequence_u32_system" = kernel atomics::Sequence<'static, u32, scope::System>;
    "at_sequence_i32_block" = kernel atomics::Sequence<'static, i32, scope::Block>;
    "at_sequence_i32_device" = kernel atomics::Sequence<'static, i32, scope::Device>;
    "at_sequence_i32_system" = kernel atomics::Sequence<'static, i32, scope::System>;
    "at_sequence_u64_block" = kernel atomics::Sequence<'static, u64, scope::Block>;
    "at_sequence_u64_device" = kernel atomics::Sequence<'static, u64, scope::Device>;
    "at_sequence_u64_system" = kernel atomics::Sequence<'static, u64, scope::System>;
    "at_sequence_i64_block" = kernel atomics::Sequence<'static, i64, scope::Block>;
    "at_sequence_i64_device" = kernel atomics::Sequence<'static, i64, scope::Device>;
    "at_sequence_i64_system" = kernel atomics::Sequence<'static, i64, scope::System>;
    "at_sequence_f32_block" = kernel atomics::Sequence<'static, f32, scope::Block>;
    "at_sequence_f32_device" = kernel atomics::Sequence<'static, f32, scope::Device>;
    "at_sequence_f32_system" = kernel atomics::Sequence<'static, f32, scope::System>;
    "at_sequence_f64_block" = kernel atomics::Sequence<'static, f64, scope::Block>;
    "at_sequence_f64_device" = kernel atomics::Sequence<'static, f64, scope::Device>;
    "at_sequence_f64_system" = kernel atomics::Sequence<'static, f64, scope::System>;
    "at_together_u32_block" = kernel atomics::Together<'static, u32, scope::Block>;
    "at_together_u32_device" = kernel atomics::Together<'static, u32, scope::Device>;
    "at_together_u32_system" = kernel atomics::Together<'static, u32, scope::System>;
    "at_together_i32_block" = kernel atomics::Together<'static, i32, scope::Block>;
    "at_together_i32_device" = kernel atomics::Together<'static, i32, scope::Device>;
    "at_together_i32_system" = kernel atomics::Together<'static, i32, scope::System>;
    "at_together_u64_block" = kernel atomics::Together<'static, u64, scope::Block>;
    "at_together_u64_device" = kernel atomics::Together<'static, u64, scope::Device>;
    "at_together_u64_system" = kernel atomics::Together<'static, u64, scope::System>;
    "at_together_i64_block" = kernel atomics::Together<'static, i64, scope::Block>;
    "at_together_i64_device" = kernel atomics::Together<'static, i64, scope::Device>;
    "at_together_i64_system" = kernel atomics::Together<'static, i64, scope::System>;
    "at_together_f32_block" = kernel atomics::Together<'static, f32, scope::Block>;
    "at_together_f32_device" = kernel atomics::Together<'static, f32, scope::Device>;
    "at_together_f32_system" = kernel atomics::Together<'static, f32, scope::System>;
    "at_together_f64_block" = kernel atomics::Together<'static, f64, scope::Block>;
    "at_together_f64_device" = kernel atomics::Together<'static, f64, scope::Device>;
    "at_together_f64_system" = kernel atomics::Together<'static, f64, scope::System>;
    "at_tickets" = kernel atomics::Tickets<'static>;
    "at_compact" = kernel atomics::Compact<'static>;
    "at_bits" = kernel atomics::Bits<'static>;
    "at_chunk_loop" = kernel atomics::ChunkLoop<'static>;
    "at_shared_count" = kernel atomics::SharedCount<'static>;
    "at_release_load" = kernel atomics::ReleaseLoad<'static>;

    "ch_visit" = kernel chunks::Visit<'static, ChunkCounter<'static>>;
    "ch_visit_two_level" = kernel chunks::Visit<'static, TwoLevelQueue<'static>>;
    "ch_note" = kernel chunks::Note<'static, ChunkCounter<'static>>;
    "ch_note_two_level" = kernel chunks::Note<'static, TwoLevelQueue<'static>>;
    "ch_insist" = kernel chunks::Insist<'static>;
    "ch_stuck" = grid_kernel chunks::Stuck<'static>;

    "ph_smooth" = phased phases::Smooth<'static>;
    "ph_log" = phased phases::Log<'static>;
    "ph_on_chip" = phased phases::OnChip<'static>;
    "ph_endless" = phased phases::Endless<'static>;

    "ta_tree" = tasks tasks::Tree<'static>;
    "ta_burst" = tasks tasks::Burst<'static>;
    "ta_greedy" = tasks tasks::Greedy, empty;
    "ta_endless" = tasks tasks::Endless, empty;
    "ta_stride" = tasks tasks::Stride<'static>;
    "ta_meet" = tasks tasks::Meet<'static>;

    "oq_count_all" = grid_kernel own_queues::CountAll<'static>;
    "oq_count_blocks" = kernel own_queues::CountAll<'static>;

    "pu_message" = grid_kernel publication::Message<'static>;
    "pu_in_block" = kernel publication::InBlock<'static>;
    "pu_token" = grid_kernel publication::Token<'static>;
    "pu_odd" = grid_kernel publication::Odd<'static>;

    "re_counts" = grid_kernel residency::Counts<'static>;
    "re_add_three" = phased residency::AddThree<'static>;
    "re_marks" = grid_kernel residency::Marks<'static>;
    "re_marks_alone" = kernel residency::MarksAlone<'static>;

    "la_nothing" = kernel launches::Nothing, empty;
    "la_nothing_in_grid" = grid_kernel launches::Nothing, empty;
    "la_iota_1" = kernel launches::Iota<'static, 1>;
    "la_iota_2" = kernel launches::Iota<'static, 2>;
    "la_iota_3" = kernel launches::Iota<'static, 3>;
    "la_iota_4" = kernel launches::Iota<'static, 4>;
    "la_slices" = kernel launches::Slices<'static>;
    "la_shape" = kernel launches::Shape<'static>;
    "la_empty" = grid_kernel launches::Empty<'static>;
    "la_beside" = kernel launches::Beside<'static>;
    "la_fields" = kernel launches::Fields<'static, 3>;
    "la_meets" = kernel launches::Meets<'static>;

    "cp_double" = kernel copies::Double<'static>;
    "qe_scale" = kernel queues_events::Scale<'static>;

    "fa_healthy" = kernel failures::Healthy<'static>;
    "fa_hand_made" = kernel failures::HandMade<'static>;
    "fa_forlorn" = kernel failures::Forlorn<'static>;
    "fa_endless" = grid_kernel failures::Endless, empty;
    "fa_endless_in_the_block" = kernel failures::EndlessInTheBlock, empty;
    "fa_short_blocks" = kernel failures::ShortBlocks, empty;
    "fa_past_the_end" = kernel failures::PastTheEnd<'static>;
    "fa_fails" = kernel failures::Fails<'static>;
    "fa_fails_in_grid" = grid_kernel failures::Fails<'static>;

    "im_visit_line" = kernel index_maps::Visit<'static, index_maps::Line>;
    "im_visit_plane" = kernel index_maps::Visit<'static, index_maps::Space<2>>;
    "im_visit_space" = kernel index_maps::Visit<'static, index_maps::Space<3>>;
    "im_visit_four" = kernel index_maps::Visit<'static, index_maps::Space<4>>;
    "im_shares" = kernel index_maps::Shares<'static>;
    "im_same_frames" = kernel index_maps::SameFrames<'static>;
    "im_first_indices" = kernel index_maps::FirstIndices<'static>;
    "im_frame_ends" = kernel index_maps::FrameEnds<'static>;
    "im_bad_map" = kernel index_maps::BadMap;

    "lb_held_up" = kernel look_back::HeldUp<'static>;
    "al_scan_max" = kernel Scan<'static, i32, Max>;
    "al_scan_affine" = kernel Scan<'static, support::Affine, support::Then>;
    "al_select" = kernel Select<'static, u32, support::MultipleOf>;
}
