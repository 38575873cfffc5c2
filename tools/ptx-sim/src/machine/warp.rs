//! Thirty-two threads, each with its own program counter.

use super::Launch;
use crate::decode::code::Predicate;
use crate::decode::lift::{Lanes, Row};

/// Where a thread returns to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Return {
    /// The call.
    pub(super) pc: u32,
    pub(super) function: u32,
    pub(super) rows: u32,
    pub(super) predicates: u32,
    pub(super) frame: u32,
}

pub(super) struct Warp {
    /// Its number in the block.
    pub(super) index: u32,
    /// Lanes that have a thread.
    pub(super) present: u32,
    /// Threads that have not ended.
    pub(super) live: u32,
    /// Threads that can go on.
    pub(super) ready: u32,
    /// Threads that wait for others of the warp.
    pub(super) meeting: u32,
    /// It sleeps: so many of its turns are nothing.
    pub(super) turns_to_skip: u32,
    /// Whether it is among the warps that take turns.
    pub(super) queued: bool,
    pub(super) pc: [u32; 32],
    pub(super) function: [u32; 32],
    /// Where each thread's registers, predicates and stack frame start.
    pub(super) rows_at: [u32; 32],
    pub(super) predicates_at: [u32; 32],
    pub(super) frame_at: [u32; 32],
    /// Whom a waiting thread waits for.
    pub(super) members: [u32; 32],
    pub(super) rows: Vec<Row>,
    pub(super) predicates: Vec<u32>,
    pub(super) local: Vec<Vec<u8>>,
    pub(super) calls: Vec<Vec<Return>>,
    /// Looks at memory that did not change, in which epoch.
    pub(super) polls: [u32; 32],
    pub(super) polled_in: [u64; 32],
}

/// Bytes of stack a thread at most, as on the hardware.
const STACK: usize = 512 << 10;
/// Registers of all calls together at most.
const ROWS: usize = 1 << 16;
/// So many looks at unchanged memory make a thread one that waits.
const PATIENT: u32 = 64;

impl Warp {
    pub(super) fn new(launch: &Launch<'_>, index: u32, present: u32) -> Warp {
        let mut warp = Warp {
            index,
            present,
            live: present,
            ready: present,
            meeting: 0,
            turns_to_skip: 0,
            queued: false,
            pc: [launch.kernel.start; 32],
            function: [launch.kernel_index; 32],
            rows_at: [0; 32],
            predicates_at: [0; 32],
            frame_at: [0; 32],
            members: [0; 32],
            rows: Vec::new(),
            predicates: Vec::new(),
            local: vec![Vec::new(); 32],
            calls: vec![Vec::new(); 32],
            polls: [0; 32],
            polled_in: [u64::MAX; 32],
        };
        warp.enter(launch, launch.kernel_index, present);
        warp
    }

    /// Makes room for a function's registers and frame at the lanes' places, and sets its constants. `false`: the stack is used up.
    pub(super) fn enter(&mut self, launch: &Launch<'_>, function: u32, lanes: u32) -> bool {
        let code = &launch.module.functions[function as usize];
        let image = &launch.images[function as usize];
        for lane in Lanes(lanes) {
            let (rows_at, predicates_at, frame_at) = (
                self.rows_at[lane] as usize,
                self.predicates_at[lane] as usize,
                self.frame_at[lane] as usize,
            );
            let frame_end = frame_at + code.frame as usize;
            if frame_end > STACK || rows_at + code.rows as usize > ROWS {
                return false;
            }
            if self.rows.len() < rows_at + code.rows as usize {
                self.rows.resize(rows_at + code.rows as usize, [0; 32]);
            }
            if self.predicates.len() < predicates_at + code.predicates as usize {
                self.predicates.resize(predicates_at + code.predicates as usize, 0);
            }
            if self.local[lane].len() < frame_end {
                self.local[lane].resize(frame_end, 0xff);
            }
            for &(row, value) in &image.values {
                self.rows[rows_at + row as usize][lane] = value;
            }
            for &(row, offset) in &image.frame {
                self.rows[rows_at + row as usize][lane] = (frame_at as u32 + offset).into();
            }
            // The constants of `Predicate`: its first holds for nobody, and the carry starts clear.
            self.predicates[predicates_at] &= !(1 << lane);
            self.predicates[predicates_at + Predicate::CARRY as usize] &= !(1 << lane);
            self.function[lane] = function;
            self.pc[lane] = code.start;
        }
        true
    }

    /// Whether a thread of it can go on and does more than look.
    pub(super) fn computes(&self, epoch: u64) -> bool {
        Lanes(self.ready).any(|lane| self.polled_in[lane] != epoch || self.polls[lane] < PATIENT)
    }

    /// The lane that leads the next group: of the innermost call the one at the first instruction, so that lanes meet again behind a branch.
    pub(super) fn first(&self) -> usize {
        let mut best = self.ready.trailing_zeros() as usize;
        for lane in Lanes(self.ready) {
            let key = |lane: usize| (u32::MAX - self.rows_at[lane], self.pc[lane]);
            if key(lane) < key(best) {
                best = lane;
            }
        }
        best
    }

    /// Some lane that can go on, each group being as likely as any other.
    pub(super) fn any(&self, random: u32) -> usize {
        let (mut left, mut leaders, mut count) = (self.ready, [0; 32], 0);
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            leaders[count] = lane;
            count += 1;
            left &= !self.group(lane);
        }
        leaders[random as usize % count.max(1)]
    }

    /// The lanes that can go on from where this one is.
    pub(super) fn group(&self, leader: usize) -> u32 {
        if self.ready == 1 << leader {
            return self.ready;
        }
        let (pc, rows_at) = (self.pc[leader], self.rows_at[leader]);
        let mut lanes = 0;
        for lane in 0..32 {
            lanes |= u32::from(self.pc[lane] == pc && self.rows_at[lane] == rows_at) << lane;
        }
        lanes & self.ready
    }
}
