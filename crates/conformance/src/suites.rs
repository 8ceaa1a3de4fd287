//! The list of all cases, once: the tests, the inventory and the check of the checks are made from it.

/// Makes one test per case, in a module `conformance` with a module per suite. The expression makes the fixture; it is
/// evaluated for each case.
///
/// ```text
/// foldwright_conformance::suites!(MemoryFixture::new());
/// ```
#[macro_export]
macro_rules! suites {
    ($fixture:expr) => {
        mod conformance {
            #[allow(unused_imports, reason = "the fixture's name may come from outside")]
            use super::*;
            $crate::__each_suite! { [$crate::__tests] ($fixture) }

            #[test]
            fn every_case_is_a_test_of_this_binary() {
                $crate::every_case_is_listed();
            }
        }
    };
}

/// No part of the API.
#[doc(hidden)]
#[macro_export]
macro_rules! __tests {
    (($fixture:expr) $($suite:ident [$($case:ident)*])*) => { $(
        mod $suite {
            #[allow(unused_imports, reason = "the fixture's name may come from outside")]
            use super::*;
            $(
                #[test]
                fn $case() {
                    $crate::run(&$fixture, |fixture| Box::pin($crate::suite::$suite::$case(fixture)));
                }
            )*
        }
    )* };
}

/// No part of the API.
#[doc(hidden)]
#[macro_export]
macro_rules! __names {
    (() $($suite:ident [$($case:ident)*])*) => {
        &[$((stringify!($suite), &[$(stringify!($case)),*])),*]
    };
}

/// No part of the API.
#[doc(hidden)]
#[macro_export]
macro_rules! __cases {
    (() $($suite:ident [$($case:ident)*])*) => {
        vec![$($((
            concat!(stringify!($suite), "::", stringify!($case)),
            (|fixture| Box::pin($crate::suite::$suite::$case(fixture))) as $crate::Case,
        )),*),*]
    };
}

/// No part of the API.
#[doc(hidden)]
#[macro_export]
macro_rules! __each_suite {
    ([$($then:tt)+] $with:tt) => {
        $($then)+ ! { $with
            append_store [
                a_record_appended_again_stays_one
                the_highest_version_is_seen
                records_of_several_tenants_land_under_their_own
                records_are_listed_in_canonical_order
                records_are_listed_by_aggregate_and_map
                records_outlive_the_process
            ]
            blob_store [
                a_body_comes_back_byte_for_byte
                a_second_put_only_touches
                tenants_have_their_own_bodies
                bodies_are_listed_by_touch
                a_body_that_was_put_again_is_not_deleted
                a_body_does_not_expire
                bodies_outlive_the_process
            ]
            fold_store [
                a_state_is_loaded_as_it_was_stored
                an_empty_state_is_not_an_absent_one
                the_higher_revision_stands
                a_late_writer_loses_through_any_handle
                of_concurrent_writers_the_highest_stands
                rows_are_answered_one_by_one
                one_key_twice_in_a_call_keeps_the_higher
                keys_never_meet
                states_are_listed_by_key
                states_outlive_the_process
            ]
            log_append [
                an_event_is_stored_as_it_was_given
                a_repeat_is_a_duplicate_of_the_first
                another_content_is_a_conflict_and_the_first_stays
                repeats_within_one_call_are_found
                concurrent_appends_of_one_identity_leave_one_event
                one_key_on_other_streams_and_commands_is_another_fact
                a_mixed_command_answers_per_event
                a_thousand_concurrent_appends_all_land
                the_largest_command_is_stored
                appended_events_outlive_the_process
            ]
            log_erase [
                erasing_takes_what_is_selected_in_steps
                a_removed_event_may_come_again
                retention_takes_only_what_is_past_it
                appends_go_on_while_retention_runs
            ]
            log_expect [
                an_expected_count_is_honoured_or_refused
                a_repeat_recognises_itself_before_the_count
                of_concurrent_expectations_one_wins
                streams_are_counted
            ]
            log_read [
                a_stream_loads_in_canonical_order
                streams_with_ids_that_begin_alike_stay_apart
                odd_ids_are_never_one_stream
                a_stream_is_paged_by_items
                a_stream_is_paged_by_bytes
                single_events_are_found_in_their_stream
                another_handle_sees_what_returned
                another_tenant_finds_and_removes_nothing
            ]
            log_scan [
                a_scan_has_no_gap_and_no_repeat
                a_scan_is_paged_by_bytes
                a_scan_selects
                streams_are_listed_once_and_in_order
                tenants_are_listed_once_and_in_order
            ]
            queue_bounds [
                a_full_queue_refuses_senders
                a_call_that_does_not_fit_is_refused_whole
                a_known_job_needs_room_and_a_repeat_does_not
                a_bound_stops_only_whose_it_is
                a_tenants_limits_replace_the_bound
                near_the_watermark_the_largest_is_refused_first
                what_runs_under_a_lease_goes_on
                room_comes_back_with_what_is_gone
                what_is_merged_takes_no_room
            ]
            queue_breaker [
                one_error_over_many_groups_closes_the_route
                a_closed_route_spends_no_attempt
                the_settle_that_closes_a_route_hands_out_none_of_it
                quarantined_groups_count
                poison_closes_no_route
                each_closing_lasts_longer
                an_outage_of_several_tenants_closes_it_for_all
                different_outages_close_it_for_their_tenants
                a_batch_ends_at_a_closed_route
                a_closed_route_is_explained
            ]
            queue_caps [
                a_cap_bounds_what_is_in_flight
                faulty_limits_are_refused
                one_slot_brings_back_the_oldest
                a_raised_cap_frees_what_was_parked
                a_lowered_cap_lets_what_runs_finish
                slots_lapse_with_their_leases
                a_cap_outlives_the_process
            ]
            queue_check [
                a_healthy_queue_is_found_right
                nothing_is_found_after_a_random_mix
            ]
            queue_concurrency [
                many_workers_complete_every_job_once_and_in_order
                one_of_many_claims_gets_a_group
                one_nonce_at_once_takes_effect_once
            ]
            queue_dead [
                a_dead_letter_frees_its_group
                dead_letters_are_listed
                a_requeued_job_takes_its_old_place
                a_requeued_job_respects_its_group
                a_discarded_letter_is_gone
                draining_leaves_dead_letters
                an_id_stays_the_same_for_life
            ]
            queue_dedup [
                without_a_key_each_event_makes_its_job
                a_waiting_job_takes_in_the_next
                triggers_of_one_call_are_merged
                the_canonically_latest_body_replaces
                an_earlier_trigger_gives_a_newer_state_alone
                at_one_time_the_later_id_replaces
                extending_moves_the_time_and_not_the_place
                extending_moves_the_window
                a_window_does_not_slide_by_itself
                a_handed_out_job_takes_in_nothing
                a_job_that_came_back_takes_in_nothing
                a_blocked_job_takes_in_nothing
                a_gone_job_takes_in_nothing
                a_job_in_a_closed_group_takes_in_the_next
                a_key_belongs_to_its_tenant_and_route
            ]
            queue_depth [
                jobs_are_counted_by_route_and_state
                counters_equal_a_recount_after_any_mix
            ]
            queue_explain [
                a_due_group_has_no_reason
                a_lease_and_a_hold_are_named
                a_reservation_is_named
                a_quarantine_is_named
                pauses_are_named
                a_backoff_is_named
                a_delay_and_a_deferral_are_named
                a_cap_is_named
                what_no_worker_knows_is_stranded
                a_job_tells_what_comes_before_it
                all_reasons_are_given
                a_dead_letter_has_no_reason
            ]
            queue_fairness [
                a_tenant_alone_takes_every_slot
                two_tenants_share_the_slots_in_halves
                spare_slots_go_to_whoever_has_work
                slots_are_shared_by_weight
                one_slot_goes_round_by_weight
                a_tenant_that_runs_dry_claims_no_share
                a_newcomer_gets_the_next_slots
                a_failed_group_frees_its_slot
                a_single_job_starts_with_the_next_claim
                one_slot_is_shared_over_time
                few_slots_are_shared_by_weight_over_time
                who_was_away_gets_its_share_and_no_more
                failures_of_one_take_no_turn_of_another
                what_cannot_run_is_in_nobodys_way
            ]
            queue_follow_ups [
                follow_ups_are_staged_with_the_outcome
                follow_ups_staged_again_are_known
                merged_follow_ups_are_counted
                a_lost_settlement_stages_nothing
                settling_hands_out_the_next_work
                a_chain_claim_takes_what_is_due
                a_chain_claim_follows_many_settlements
            ]
            queue_holds [
                a_job_holds_its_bodies_until_it_is_gone
                the_last_release_counts
                a_squash_swaps_the_hold
                a_hold_is_taken_once
                a_sweep_forgets_what_was_released
                a_hold_belongs_to_its_tenant
            ]
            queue_inspect [
                groups_are_listed_with_their_state
                a_line_tells_what_matters
                a_filter_selects_groups
                jobs_are_paged_in_their_order
                a_job_is_found_in_every_state
                a_tenants_figures_are_what_there_is
                tenants_are_listed_by_name
                lists_of_the_unknown_are_empty
            ]
            queue_known [
                a_known_job_is_not_added
                a_job_twice_in_one_call_is_one
                a_waiting_body_is_replaced_by_a_later_one
                without_a_place_every_body_is_later
                staging_again_does_not_shorten_a_backoff
                staging_again_does_not_delay
            ]
            queue_lease_ends [
                a_lease_tells_how_the_one_before_ended
                an_emptied_group_remembers_an_unfinished_lease
                a_lease_names_the_last_token_that_completed
                a_new_group_is_accounted_for_up_to_the_last_token
            ]
            queue_leases [
                a_group_has_one_live_lease
                tokens_strictly_increase
                tokens_follow_the_time
                a_lapsed_lease_gives_its_jobs_back
                a_lapsed_single_job_is_first_again
                a_late_settle_is_lost
                a_lapsed_lease_settles_nothing
                a_settled_token_is_already_settled
                a_heartbeat_moves_the_deadline
                a_dead_lease_is_not_extended
                a_reap_is_bounded
                jobs_and_leases_outlive_the_process
            ]
            queue_limits [
                a_claim_takes_at_most_so_many_groups
                a_lease_holds_at_most_so_many_jobs
                a_claim_holds_at_most_so_many_bytes
                a_first_job_that_is_too_large_comes_alone
                the_bytes_of_all_leases_count_together
            ]
            queue_model [
                any_sequence_agrees_with_the_model
                any_sequence_agrees_under_a_short_ladder
                any_sequence_agrees_where_room_is_short
            ]
            queue_named [
                an_empty_group_is_held
                a_hold_leaves_no_trace
                a_group_is_held_whatever_it_does
                a_leased_group_is_granted_at_its_turn
                a_reservation_lapses
                groups_are_held_in_their_order
                overlapping_holds_do_not_block_each_other
                a_hold_lapses
                a_hold_changes_nothing_of_its_group
                jobs_may_follow_from_a_hold
                a_repeated_hold_is_the_same
                a_hold_takes_no_slot
                a_hold_outlives_the_process
            ]
            queue_nonces [
                a_repeated_stage_stages_nothing
                a_repeated_claim_grants_the_same
                a_repeated_claim_grants_only_what_is_live
                a_repeated_empty_claim_stays_empty
                a_repeated_settle_answers_the_same
                a_nonce_is_forgotten_after_its_time
                nonces_hold_for_every_handle
            ]
            queue_order [
                due_jobs_come_by_score_then_by_staging
                the_oldest_job_comes_first_though_it_was_staged_last
                a_delay_moves_the_time_and_not_the_place
                scores_are_clamped_to_a_window
                a_queue_tells_the_settings_it_works_with
                an_older_job_waits_until_its_group_opens
                the_group_that_was_due_first_comes_first
                a_clock_that_steps_back_strands_nothing
                a_job_is_handed_out_as_it_was_staged
                odd_group_keys_never_meet
                many_jobs_of_many_groups_are_staged_at_once
                a_refused_call_stages_nothing
                an_empty_group_is_never_handed_out
            ]
            queue_pauses [
                a_pause_holds_exactly_its_scope
                a_pause_elsewhere_holds_nothing
                what_is_in_flight_finishes
                a_batch_ends_at_a_paused_route
                an_older_job_takes_its_place_in_a_pause
                a_pause_and_a_wait_hold_both
                pauses_lie_over_each_other
                a_pause_is_there_once
                a_pause_holds_every_envelope
                a_pause_changes_no_repeated_answer
                a_pause_outlives_the_process
            ]
            queue_poison [
                a_group_that_kills_its_workers_is_quarantined
                no_number_of_deaths_is_no_bound
                a_death_counts_for_each_group
                a_success_forgets_deaths
                what_starts_anew_has_no_deaths
                a_leased_group_is_quarantined_when_its_lease_ends
                only_a_confirmed_silence_is_a_death
                a_jump_of_the_clock_is_no_death
                failing_is_not_dying
                a_wary_group_comes_alone
                wary_groups_are_never_in_hand_together
                without_a_silence_no_group_is_wary
            ]
            queue_quarantine [
                a_quarantined_group_waits_for_an_operator
                blocked_groups_are_listed
                an_exhausted_group_names_its_attempts
                verbs_on_the_unknown_say_so
                draining_takes_waiting_jobs_in_steps
                draining_a_blocked_group_frees_it
                a_view_shows_the_first_hundred_jobs
            ]
            queue_retry [
                the_ladder_doubles_and_ends_in_quarantine
                a_floor_never_shortens_the_ladder
                a_backing_off_group_is_closed_and_holds_no_lease
                one_success_starts_from_zero
                an_unblocked_group_has_a_fresh_ladder
                an_emptied_group_bequeaths_no_attempt
                a_drained_group_is_open_for_new_jobs
                only_a_failure_spends_an_attempt
                a_ladder_of_one_attempt_blocks_at_once
            ]
            queue_settle [
                completed_jobs_are_gone
                a_done_prefix_leaves_the_others_in_place
                every_rest_keeps_the_order
                a_deferred_group_waits_and_spends_no_attempt
                a_released_group_is_due_again_at_once
                a_floor_raises_the_next_tokens
                a_need_waits_for_a_newer_worker
                one_lost_of_fifty_fails_alone
                one_lease_twice_in_a_call_is_settled_once
                a_refused_settlement_fails_alone
                answers_are_kept_for_their_senders
            ]
            queue_stranded [
                an_unknown_route_waits_for_its_worker
                a_newer_format_waits_for_a_newer_worker
                an_unknown_job_ends_the_batch
                a_delayed_unknown_job_is_passed
                a_worker_gets_only_the_routes_it_knows
                stranded_groups_do_not_fill_a_claim
            ]
            queue_streak [
                a_streak_over_many_jobs_quarantines
                no_streak_is_no_bound
                a_success_ends_a_streak
                what_starts_anew_has_no_streak
                attempts_belong_to_the_job_that_failed
            ]
            queue_sweep [
                a_dry_run_says_what_the_run_does
                a_sweep_unblocks_what_is_selected
                a_sweep_drains_what_is_selected
                buried_jobs_are_dead_letters
                burying_a_blocked_group_frees_it
                dead_letters_are_put_back_in_pages
                a_sweep_of_the_unknown_does_nothing
            ]
            queue_tenancy [
                one_key_in_two_tenants_is_two_groups
                one_id_in_two_tenants_is_two_jobs
                another_tenant_reaches_nothing
            ]
            queue_throttle [
                a_window_has_one_run_at_its_end
                windows_follow_each_other_without_sliding
                a_run_in_progress_takes_in_nothing
                a_waiting_first_run_takes_in_what_follows
                the_canonically_newest_body_runs
                an_idle_key_runs_at_once_again
                a_window_outlives_its_job_and_no_more
                a_window_belongs_to_its_key
                a_window_outlives_the_process
            ]
            queue_wait [
                staging_wakes_a_waiting_worker
                waiting_for_what_is_there_returns
                what_is_not_claimable_ends_no_wait
                a_wait_ends_by_its_bound
                a_delayed_job_wakes_at_its_time
                a_group_that_opens_wakes_a_worker
            ]
            queue_workers [
                workers_are_listed_by_id
                a_beat_renews_the_record
                a_goodbye_ends_the_record
                a_silent_worker_is_forgotten_in_the_end
            ]
        }
    };
}

/// All suites with the names of their cases.
#[must_use]
pub fn inventory() -> &'static [(&'static str, &'static [&'static str])] {
    __each_suite! { [__names] () }
}
