//! One suite for every back end: what a kernel and a program may rely on, whatever the device.
//!
//! A test is a plain function that is given a device. [`tests!`] lists them all, in one place; a test that is forgotten there
//! is dead code, and the compiler says so. [`conformance!`] stamps the list on each back end: a new one is one line.
//!
//! A test that needs several blocks resident together, or several threads in a block, returns early on a device that cannot
//! have them ([`support::team`], [`support::several_blocks`]). Nothing here measures time, and everything is bounded: a hang is a
//! failure.
//!
//! `// fault A1.4` and the like name the class of public bug reports that a test stands for; they are listed in `README.md`.

mod algorithms;
mod atomics;
mod block_barrier;
mod breadth_first;
mod cancellation;
mod chunks;
mod circles;
mod collectives;
mod copies;
mod destructors;
mod failures;
#[cfg(feature = "cuda")]
mod gpu;
mod grid_barrier;
mod histogram;
mod index_maps;
mod launches;
mod look_back;
mod own_queues;
mod phases;
mod pools;
mod publication;
mod queue_faults;
mod queues_events;
mod reduction;
mod residency;
mod scan;
mod scopes;
mod select;
mod self_waits;
mod shared_memory;
mod sort;
mod sparse_product;
mod sums;
mod support;
mod tasks;

/// Every test of the suite, by topic.
macro_rules! tests {
    ($device:literal) => {
        tests! { $device;
            index_maps: [
                every_walk_of_a_line_visits_each_index_once,
                every_walk_of_a_plane_visits_each_index_once,
                every_walk_of_a_space_visits_each_index_once,
                every_walk_of_four_dimensions_visits_each_index_once,
                parts_of_a_line_differ_by_at_most_one,
                threads_of_a_block_get_the_same_frames,
                indices_near_the_largest_are_visited_once,
                maps_over_every_index_there_is_do_not_overflow,
                frames_of_every_index_there_is_do_not_overflow,
                more_indices_than_can_be_counted_are_an_error,
                a_frame_without_extent_is_an_error,
            ];
            shared_memory: [
                what_one_thread_writes_all_read_after_a_barrier,
                neighbours_are_summed_for_every_tail,
                neighbours_are_summed_by_skewed_threads,
                a_chunk_is_reused_many_times,
                arrays_of_different_types_do_not_overlap,
                dynamic_shared_memory_has_the_length_asked_for,
                slices_are_views_of_the_same_elements,
                blocks_do_not_see_the_memory_of_others,
                an_item_leaves_nothing_behind_for_the_next,
                there_may_be_more_bins_than_values_of_a_sample,
                the_full_range_of_signed_samples_is_counted,
                an_index_out_of_bounds_names_block_and_thread,
            ];
            block_barrier: [
                a_thread_that_leaves_early_is_named,
                a_barrier_under_a_condition_of_the_thread_is_refused,
                a_halving_reduction_whose_threads_leave_is_refused,
                a_halving_reduction_whose_threads_stay_is_right,
                a_barrier_in_a_loop_keeps_locals_alive,
                a_conditional_write_between_two_barriers_is_seen,
                a_barrier_under_a_uniform_condition_meets,
                conditional_barriers_in_nested_loops_run_everything_once,
                a_masked_last_step_reaches_the_barrier,
                a_barrier_orders_the_device_memory_of_a_block,
                what_was_read_before_a_barrier_is_the_old_value,
                a_path_to_a_panic_in_a_branch_leaves_the_other_threads_alone,
                branches_about_a_barrier_leave_it_one,
                votes_are_counted,
                a_vote_orders_memory,
                many_barriers_in_a_row_keep_threads_in_step,
            ];
            collectives: [
                broadcast_evaluates_once_and_reaches_all,
                reduce_block_combines_in_order,
                scans_of_a_block_combine_in_order,
                collectives_of_different_types_follow_each_other,
                reduce_grid_combines_in_order_and_gives_all_the_same,
                reduce_grid_of_floats_gives_all_the_same_bits_every_time,
                reductions_of_a_grid_follow_each_other,
                reductions_of_launches_in_flight_do_not_mix,
                collectives_of_launches_in_flight_do_not_mix,
                collectives_take_values_of_64_bytes,
                warp_votes_and_shuffles_follow_the_lanes,
            ];
            atomics: [
                every_operation_on_u32_does_what_it_says,
                every_operation_on_i32_does_what_it_says,
                every_operation_on_u64_does_what_it_says,
                every_operation_on_i64_does_what_it_says,
                every_operation_on_f32_does_what_it_says,
                every_operation_on_f64_does_what_it_says,
                no_operation_on_u32_is_lost,
                no_operation_on_i32_is_lost,
                no_operation_on_u64_is_lost,
                no_operation_on_i64_is_lost,
                no_sum_of_floats_is_lost,
                sixty_four_blocks_increment_one_counter,
                tickets_are_unique,
                a_ticket_used_twice_is_drawn_once,
                compare_exchange_compares_bits,
                a_chunk_counter_hands_out_every_chunk,
                shared_counters_count_every_thread,
                an_order_that_a_load_cannot_have_is_an_error,
            ];
            publication: [
                a_block_publishes_to_another_at_device_scope,
                a_fence_publishes_to_another_block,
                a_thread_publishes_to_its_block_at_block_scope,
                a_message_goes_round_all_blocks,
                a_wait_returns_the_value_it_accepted,
            ];
            grid_barrier: [
                every_shape_orders_rounds_between_blocks,
                every_shape_orders_the_stores_of_all_threads,
                every_shape_meets_for_any_number_of_blocks,
                a_hundred_thousand_rounds_meet_and_allocate_nothing,
                skewed_blocks_meet,
                a_launch_after_an_aborted_one_starts_afresh,
                two_launches_in_flight_do_not_mix,
                a_block_that_syncs_less_often_is_named,
                a_block_that_leaves_before_the_barrier_is_named,
                blocks_that_decide_for_themselves_are_reported,
                blocks_that_decide_together_converge,
            ];
            launches: [
                a_kernel_without_arguments_runs,
                iota_in_one_to_four_dimensions,
                slices_of_a_space_count_with_atomics,
                a_grid_by_frames_has_at_most_a_block_a_frame,
                a_grid_by_exact_shape_has_that_shape,
                no_frames_are_no_launch,
                each_bad_shape_has_an_error_of_its_own,
                more_blocks_than_a_device_numbers_are_refused,
                empty_buffers_run_through_barriers,
                an_empty_buffer_stands_beside_a_full_one,
                more_blocks_than_workers_are_fine,
                a_launch_from_inside_a_kernel_is_refused,
                threads_of_another_pool_may_launch,
                more_threads_than_run_together_are_refused,
                fields_of_every_kind_reach_the_kernel,
                fields_of_unspecified_layout_reach_the_kernel,
            ];
            residency: [
                twice_the_residency_is_refused,
                one_block_too_many_is_refused,
                exactly_the_residency_runs,
                a_refusal_leaves_the_device_usable,
                a_refused_run_falls_back_to_relaunch,
                residency_is_asked_for_each_kernel,
                residency_is_checked_at_each_launch,
                an_enqueued_launch_is_refused_alike,
                headroom_is_kept,
                each_constraint_is_named,
                a_resident_grid_covers_any_problem,
                without_a_barrier_any_grid_finishes,
                each_device_answers_for_itself,
            ];
            copies: [
                data_comes_back_as_it_went,
                a_new_buffer_is_zero,
                parts_are_copied,
                lengths_that_differ_are_refused,
                fills_reach_only_their_range,
                a_range_outside_a_span_panics,
                a_buffer_without_memory_is_an_error,
                buffers_outlive_queue_and_device,
                a_buffer_given_to_enqueued_work_stays_valid,
                kernels_work_on_parts_of_buffers,
            ];
            queues_events: [
                an_event_is_not_complete_while_queued,
                an_event_is_recorded_again_without_waiters,
                an_event_is_recorded_again_with_waiters,
                a_wait_is_for_the_recording_it_saw,
                a_wait_for_a_finished_event_returns,
                events_and_queues_are_dropped_in_any_order,
                three_queues_are_chained_by_events,
                kernels_of_two_queues_are_ordered_by_an_event,
                four_threads_race_on_events,
                host_closures_return_values_of_every_kind,
                blocking_calls_come_after_enqueued_work,
                blocking_calls_in_a_piece_come_after_the_work_it_enqueued,
                threads_in_a_piece_take_turns_on_its_queue,
                a_queue_is_not_idle_inside_its_own_work,
                a_queue_is_idle_after_a_panic_in_its_work,
                a_host_closure_may_use_its_own_queue,
                waiting_for_every_queue_covers_all_work,
                threads_take_turns_on_one_queue,
            ];
            scopes: [
                work_goes_on_while_the_host_does,
                work_of_a_scope_runs_in_order,
                a_failure_skips_what_follows,
                a_failure_nobody_takes_is_returned,
                skipped_work_nobody_waits_for_is_an_error,
                events_complete_after_a_failure,
                a_panic_in_a_closure_is_an_error,
                a_panic_in_the_body_comes_after_the_work,
                a_piece_may_open_a_scope,
                a_queue_is_usable_after_a_failed_scope,
            ];
            destructors: [
                a_scope_waits_for_work_that_a_results_destructor_enqueues,
                a_body_that_panics_waits_for_work_that_a_results_destructor_enqueues,
                a_body_that_panics_lets_go_of_an_error_whose_destructor_panics,
                skipped_work_whose_destructor_panics_fails,
                a_panic_whose_payload_panics_is_an_error,
                results_whose_destructors_panic_are_failures_of_the_scope,
            ];
            circles: [
                pieces_that_wait_for_events_behind_each_other_are_told,
                of_threads_that_want_each_others_queues_one_is_told,
                of_launches_that_want_each_others_queues_one_is_refused,
                of_scopes_that_want_each_others_queues_one_is_told,
                a_piece_that_wants_the_queue_of_who_waits_for_it_is_told,
                threads_that_want_queues_in_one_order_are_not_told,
            ];
            self_waits: [
                a_piece_that_waits_for_a_later_one_is_told,
                a_piece_that_waits_for_what_it_enqueues_is_told,
                a_piece_that_waits_for_an_event_behind_it_is_told,
                a_piece_may_wait_for_an_event_of_another_queue,
                a_queue_used_inside_a_kernel_of_its_device_ends_the_launch,
                a_kernel_that_waits_for_work_behind_its_launch_is_told,
                a_launch_by_way_of_another_device_is_refused,
            ];
            phases: [
                both_structures_give_the_same_bits,
                phases_run_in_order_and_steps_count_up,
                a_run_stops_when_told_whatever_the_checks,
                what_is_kept_on_chip_is_loaded_and_stored,
                auto_runs_what_fits,
                auto_relaunches_what_does_not_fit,
                headroom_gives_both_structures_the_same_grid,
                persistent_is_refused_where_it_does_not_fit,
                an_empty_problem_runs,
                a_time_limit_covers_all_launches_of_a_run,
                no_more_time_is_reported_in_barriers_than_in_all,
            ];
            chunks: [
                every_policy_hands_out_every_index_once,
                ranges_above_32_bits_are_handed_out,
                only_the_last_chunk_is_short,
                a_counter_that_is_used_up_stays_so,
                each_launch_starts_with_a_fresh_counter,
                more_blocks_than_chunks_are_fine,
                a_two_level_queue_hands_out_every_index_once,
                blocks_that_run_dry_help_with_the_pieces_of_others,
            ];
            tasks: [
                every_task_is_run_once,
                every_seed_is_run_once,
                no_seeds_are_no_launch,
                a_spawn_that_panics_has_made_no_task,
                generations_are_launches,
                blocks_without_tasks_wait_for_them,
                sleeping_blocks_are_woken,
                many_runs_end,
                a_full_queue_loses_no_task,
                a_block_works_its_own_pushes_off,
                a_task_that_panics_names_itself,
                a_task_that_makes_too_many_is_an_error,
                a_time_limit_hands_the_tasks_back,
                a_refused_run_hands_its_seeds_back,
                counters_add_up,
                slots_are_reused_without_mix_up,
                tasks_of_several_blocks_share_the_work,
                blocks_with_tasks_feed_those_that_wait,
                a_run_of_tasks_keeps_the_headroom,
                a_run_of_tasks_does_not_wait_for_the_whole_grid,
                auto_says_how_it_runs_tasks_and_why,
            ];
            cancellation: [
                a_cancelled_run_hands_its_tasks_back,
                a_run_cancelled_beforehand_runs_nothing,
                a_run_that_is_over_cannot_be_cancelled,
                another_thread_may_cancel,
                a_run_that_waits_for_the_host_lets_others_work,
            ];
            own_queues: [
                a_kernel_may_run_tasks_and_then_go_on,
                what_a_kernel_has_left_comes_back,
                a_grid_larger_than_its_queue_is_an_error,
            ];
            look_back: [
                a_block_that_is_held_up_holds_up_nobody_else,
            ];
            failures: [
                a_panic_names_block_thread_and_message,
                a_panic_releases_a_block_barrier,
                a_panic_releases_a_grid_barrier,
                a_panic_releases_a_wait,
                a_panic_releases_threads_that_sleep,
                a_panic_whose_payload_panics_ends_the_launch,
                every_block_waiting_for_one_that_never_starts_is_reported,
                a_wait_that_nobody_ends_is_reported,
                a_time_limit_names_barrier_and_round,
                endless_rounds_are_given_up,
                endless_block_barriers_are_given_up,
                many_short_blocks_are_given_up,
                the_longest_time_limit_is_one,
                a_thread_that_leaves_a_launch_that_has_not_failed_fails_it,
                an_index_out_of_bounds_is_an_error,
                errors_name_the_kernel,
            ];
        }
    };
    ($device:literal; $($topic:ident: [$($test:ident),* $(,)?];)*) => { $(
        mod $topic { $(
            #[test]
            fn $test() {
                crate::support::run($device, crate::$topic::$test);
            }
        )* }
    )* };
}

/// Those of the algorithms.
macro_rules! algorithms {
    ($device:literal) => {
        tests! { $device;
            sums: [
                arrays_of_every_length_are_summed,
                squares_of_every_length_are_summed,
                arrays_of_every_length_are_scanned_in_place,
                an_array_larger_than_any_cache_is_scanned_in_place,
            ];
            scan: [
                prefixes_are_those_of_the_sequential_scan,
                prefixes_keep_the_order_of_elements,
                prefixes_of_floats_have_the_same_bits_for_any_number_of_blocks,
                a_place_of_another_length_is_refused,
            ];
            select: [
                what_is_selected_is_in_order_and_complete,
                both_parts_of_a_partition_are_in_order_and_complete,
                what_does_not_fit_is_counted,
            ];
            sparse_product: [
                products_have_the_bits_of_the_sequential_one,
                a_matrix_is_multiplied_many_times,
            ];
            breadth_first: [
                levels_are_those_of_the_sequential_search,
                a_path_has_a_level_a_vertex,
                a_star_fills_a_frontier_at_once,
                loops_and_lone_vertices_change_nothing,
                edges_lead_one_way,
            ];
            reduction: [
                integers_are_reduced_for_every_length,
                floats_are_reduced_for_every_length,
                an_operator_that_does_not_commute_keeps_the_order,
                a_part_of_a_buffer_is_reduced,
            ];
            histogram: [
                bytes_are_counted_for_every_length,
                equal_and_skewed_elements_are_counted,
                elements_in_no_bin_are_counted_apart,
                keys_may_be_computed,
                bins_beyond_shared_memory_are_counted,
            ];
            algorithms: [
                a_grid_without_frames_does_all_the_work,
            ];
            sort: [
                keys_are_sorted_for_every_length,
                wide_keys_are_sorted,
                sorted_reversed_and_equal_keys_are_sorted,
                keys_that_differ_in_few_bits_are_sorted,
                floats_are_in_total_order,
                signed_keys_are_sorted,
                equal_keys_keep_the_order_of_their_values,
                elements_are_sorted_by_a_key_that_they_hold,
                a_part_of_a_buffer_is_sorted,
            ];
        }
    };
}

/// Stamps the suite on back ends.
macro_rules! conformance {
    ($($backend:ident = $device:literal;)*) => { $(
        mod $backend {
            tests! { $device }
            algorithms! { $device }
        }
    )* };
}

conformance! {
    check_small = "check";
    // fault A1.10: what runs on many multiprocessors runs on one.
    check_alone = "check:mps=1,blocks=1";
    check_warps = "check:mps=2,blocks=2,threads=6,warp=4,order=random";
    cpu_alone = "cpu:blocks=1";
    cpu_solo = "cpu:blocks=2";
    cpu_oversubscribed = "cpu:blocks=5";
    cpu_teams = "cpu:blocks=2,threads=3";
    cpu_one_team = "cpu:blocks=1,threads=8";
    cpu_passive = "cpu:blocks=2,wait=passive";
}

/// Stamps the algorithms alone, on devices for which they are made in another way than on those above.
// fault A10.5: a variant that is chosen for some devices has to pass at every edge that the others pass at.
macro_rules! variants {
    ($($variant:ident = $device:literal;)*) => { $(
        mod $variant { algorithms! { $device } }
    )* };
}

variants! {
    // Threads that are warps by themselves, in teams.
    check_no_warps = "check:mps=2,blocks=1,threads=3,warp=1,order=random";
    // Warps as wide as a GPU's, the last of a block incomplete.
    check_wide_warps = "check:mps=2,blocks=1,threads=40,warp=32,order=random";
    // More blocks than most inputs have tiles.
    cpu_many_blocks = "cpu:blocks=40";
}

#[cfg(feature = "cuda")]
conformance! {
    cuda = "cuda:0,threads=64";
}

/// What a GPU alone has.
#[cfg(feature = "cuda")]
macro_rules! gpu {
    ($($test:ident),* $(,)?) => {
        mod cuda_alone { $(
            #[test]
            fn $test() {
                crate::support::run_on_gpu(crate::gpu::$test);
            }
        )* }
    };
}

#[cfg(feature = "cuda")]
gpu! {
    an_index_out_of_bounds_names_block_thread_and_place,
    a_panic_names_block_thread_and_place,
    a_time_limit_ends_a_block_without_end,
    a_panic_beside_blocks_that_wait_is_reported,
    a_lost_device_is_opened_anew_once_all_of_it_is_dropped,
    a_time_limit_ends_rounds_without_end,
    a_run_by_generations_is_cancelled_between_launches,
    a_kernel_that_no_module_has_is_named_with_its_type,
    a_module_that_the_driver_refuses_says_why,
    a_gpu_whose_lanes_wait_for_each_other_is_refused,
    a_grid_is_as_large_as_the_share_of_the_gpu,
    a_gpu_without_cooperative_launches_says_so_beforehand,
    devices_opened_twice_reach_each_others_buffers,
    there_is_one_among_all_devices,
}
