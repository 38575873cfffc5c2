//! Known bugs of kernels that synchronise, one a file, each with its corrected twin.
//!
//! They are the fault catalogue's: what people who build grid barriers, persistent kernels, work queues and single-pass scans
//! have reported. The checking device finds every bug within the schedules that the exhibit states, and stays silent about every
//! twin over ten times as many.
//!
//! In each file `fixed` tells the twin from the bug. The `README.md` beside them lists the classes that have no bug of their own.
//!
//! ```
//! use gridwise::check::gallery::EXHIBITS;
//!
//! let exhibit = EXHIBITS.iter().find(|exhibit| exhibit.name == "broadcast_overwritten").unwrap();
//! let report = exhibit.find();
//! assert!(exhibit.is_found(&report));
//! println!("{report}");
//! ```

mod exhibit;
#[cfg(all(test, not(loom)))]
mod test;

mod acquire_fence_missing;
mod aggregate_beside_flag;
mod barrier_beyond_residency;
mod barrier_in_a_ragged_loop;
mod barrier_in_both_arms;
mod barrier_inside_a_lock;
mod barrier_not_put_back;
mod barrier_under_an_index;
mod block_barrier_for_grid;
mod block_that_stops;
mod both_upgrade;
mod broadcast_overwritten;
mod buffers_swapped_once;
mod bytes_of_a_counter;
mod cleared_in_the_kernel;
mod co_running_kernel;
mod continue_over_the_barrier;
mod count_left_over;
mod counted_at_the_theft;
mod counter_back_to_zero;
mod counter_without_generation;
mod deque_without_fences;
mod double_checked;
mod early_return;
mod empty_row_returns;
mod everybody_resets;
mod fence_at_block_scope;
mod fence_instead_of_barrier;
mod fewer_multiprocessors;
mod final_waits_for_one;
mod finisher_without_work;
mod flag_at_block_scope;
mod flag_before_the_tail;
mod flag_erased;
mod flag_tested_and_rewritten;
mod flags_overlap;
mod flags_that_cross;
mod free_list_aba;
mod full_for_a_moment;
mod grid_barrier_by_one_thread;
mod grid_without_stride;
mod guard_around_the_barrier;
mod halves_of_a_word;
mod halving_with_returns;
mod hazard_without_fence;
mod histogram_at_block_scope;
mod histogram_not_cleared;
mod idle_threads_clear;
mod index_of_32_bits;
mod initialised_by_plain_store;
mod jump_over_the_barrier;
mod key_and_value_apart;
mod lane_waits_for_lane;
mod last_block_without_acquire;
mod last_by_reading_again;
mod last_tile_in_full;
mod leader_clears_at_end;
mod leaves_without_a_last_look;
mod lock_by_every_lane;
mod locks_in_opposite_order;
mod look_back_beside_other_work;
mod loops_of_different_length;
mod machine_shrinks;
mod more_bins_than_values;
mod operator_on_padding;
mod own_barrier_relaxed;
mod own_residual;
mod partner_not_resident;
mod persistent_with_barrier;
mod plain_poll;
mod pop_without_second_barrier;
mod popped_before_written;
mod pushed_past_capacity;
mod readers_leave_relaxed;
mod reduction_without_barrier;
mod refill_without_barrier;
mod relaxed_arrival;
mod relaxed_flag;
mod release_before_block_barrier;
mod release_sequence_cut;
mod release_then_clear;
mod repair_in_a_branch;
mod reset_after_publishing;
mod reset_lands_late;
mod residual_cleared_too_early;
mod roles_at_two_barriers;
mod round_told_by_a_sum;
mod scan_in_place;
mod scratch_over_the_barrier;
mod scratch_shared_by_reductions;
mod second_tile_too_early;
mod segments_of_different_length;
mod shared_counter_without_atomics;
mod slot_freed_relaxed;
mod slots_rotate_too_soon;
mod spin_lock_by_every_lane;
mod spin_without_end;
mod state_in_two_words;
mod stolen_between_counts;
mod successor_forgotten;
mod table_rewritten;
mod tag_comes_round;
mod ticket_lock_relaxed;
mod ticket_read_then_stored;
mod ticket_without_atomics;
mod tickets_reset_in_the_kernel;
mod tile_by_block_index;
mod torn_read;
mod two_grid_barriers;
mod two_orders;
mod unlock_before_block_barrier;
mod used_before_initialised;
mod vote_against_barrier;
mod vote_of_half_a_warp;
mod vote_orders_no_memory;
mod votes_at_two_lines;
mod waits_for_a_later_block;
mod warp_synchronous;

pub use exhibit::Exhibit;

/// All exhibits, by class.
pub const EXHIBITS: &[Exhibit] = &[
    barrier_beyond_residency::EXHIBIT,
    fewer_multiprocessors::EXHIBIT,
    co_running_kernel::EXHIBIT,
    grid_without_stride::EXHIBIT,
    machine_shrinks::EXHIBIT,
    persistent_with_barrier::EXHIBIT,
    counter_without_generation::EXHIBIT,
    reset_after_publishing::EXHIBIT,
    counter_back_to_zero::EXHIBIT,
    release_then_clear::EXHIBIT,
    leader_clears_at_end::EXHIBIT,
    cleared_in_the_kernel::EXHIBIT,
    initialised_by_plain_store::EXHIBIT,
    flag_erased::EXHIBIT,
    count_left_over::EXHIBIT,
    flags_overlap::EXHIBIT,
    reset_lands_late::EXHIBIT,
    slots_rotate_too_soon::EXHIBIT,
    last_by_reading_again::EXHIBIT,
    scratch_shared_by_reductions::EXHIBIT,
    buffers_swapped_once::EXHIBIT,
    scratch_over_the_barrier::EXHIBIT,
    everybody_resets::EXHIBIT,
    barrier_not_put_back::EXHIBIT,
    plain_poll::EXHIBIT,
    segments_of_different_length::EXHIBIT,
    empty_row_returns::EXHIBIT,
    flag_tested_and_rewritten::EXHIBIT,
    two_grid_barriers::EXHIBIT,
    own_residual::EXHIBIT,
    residual_cleared_too_early::EXHIBIT,
    block_barrier_for_grid::EXHIBIT,
    loops_of_different_length::EXHIBIT,
    table_rewritten::EXHIBIT,
    relaxed_arrival::EXHIBIT,
    flag_at_block_scope::EXHIBIT,
    histogram_at_block_scope::EXHIBIT,
    last_block_without_acquire::EXHIBIT,
    release_before_block_barrier::EXHIBIT,
    bytes_of_a_counter::EXHIBIT,
    halves_of_a_word::EXHIBIT,
    relaxed_flag::EXHIBIT,
    fence_at_block_scope::EXHIBIT,
    acquire_fence_missing::EXHIBIT,
    release_sequence_cut::EXHIBIT,
    ticket_lock_relaxed::EXHIBIT,
    torn_read::EXHIBIT,
    two_orders::EXHIBIT,
    aggregate_beside_flag::EXHIBIT,
    state_in_two_words::EXHIBIT,
    own_barrier_relaxed::EXHIBIT,
    unlock_before_block_barrier::EXHIBIT,
    readers_leave_relaxed::EXHIBIT,
    flags_that_cross::EXHIBIT,
    fence_instead_of_barrier::EXHIBIT,
    tile_by_block_index::EXHIBIT,
    waits_for_a_later_block::EXHIBIT,
    look_back_beside_other_work::EXHIBIT,
    block_that_stops::EXHIBIT,
    operator_on_padding::EXHIBIT,
    last_tile_in_full::EXHIBIT,
    lane_waits_for_lane::EXHIBIT,
    lock_by_every_lane::EXHIBIT,
    spin_lock_by_every_lane::EXHIBIT,
    votes_at_two_lines::EXHIBIT,
    barrier_inside_a_lock::EXHIBIT,
    locks_in_opposite_order::EXHIBIT,
    both_upgrade::EXHIBIT,
    partner_not_resident::EXHIBIT,
    spin_without_end::EXHIBIT,
    early_return::EXHIBIT,
    barrier_in_both_arms::EXHIBIT,
    jump_over_the_barrier::EXHIBIT,
    halving_with_returns::EXHIBIT,
    guard_around_the_barrier::EXHIBIT,
    barrier_under_an_index::EXHIBIT,
    barrier_in_a_ragged_loop::EXHIBIT,
    continue_over_the_barrier::EXHIBIT,
    vote_of_half_a_warp::EXHIBIT,
    vote_against_barrier::EXHIBIT,
    roles_at_two_barriers::EXHIBIT,
    grid_barrier_by_one_thread::EXHIBIT,
    ticket_without_atomics::EXHIBIT,
    broadcast_overwritten::EXHIBIT,
    idle_threads_clear::EXHIBIT,
    shared_counter_without_atomics::EXHIBIT,
    second_tile_too_early::EXHIBIT,
    scan_in_place::EXHIBIT,
    repair_in_a_branch::EXHIBIT,
    reduction_without_barrier::EXHIBIT,
    warp_synchronous::EXHIBIT,
    vote_orders_no_memory::EXHIBIT,
    used_before_initialised::EXHIBIT,
    double_checked::EXHIBIT,
    histogram_not_cleared::EXHIBIT,
    pop_without_second_barrier::EXHIBIT,
    tickets_reset_in_the_kernel::EXHIBIT,
    ticket_read_then_stored::EXHIBIT,
    popped_before_written::EXHIBIT,
    slot_freed_relaxed::EXHIBIT,
    stolen_between_counts::EXHIBIT,
    deque_without_fences::EXHIBIT,
    leaves_without_a_last_look::EXHIBIT,
    refill_without_barrier::EXHIBIT,
    counted_at_the_theft::EXHIBIT,
    pushed_past_capacity::EXHIBIT,
    final_waits_for_one::EXHIBIT,
    round_told_by_a_sum::EXHIBIT,
    finisher_without_work::EXHIBIT,
    free_list_aba::EXHIBIT,
    hazard_without_fence::EXHIBIT,
    key_and_value_apart::EXHIBIT,
    tag_comes_round::EXHIBIT,
    full_for_a_moment::EXHIBIT,
    flag_before_the_tail::EXHIBIT,
    successor_forgotten::EXHIBIT,
    index_of_32_bits::EXHIBIT,
    more_bins_than_values::EXHIBIT,
];
