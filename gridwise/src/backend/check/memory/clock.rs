//! Vector clocks over the threads of a grid, by block, shared until they differ.

use std::{panic::Location, rc::Rc};

use crate::kernel::Scope;

/// A thread of the grid: `block * threads + thread`.
pub(crate) type ThreadId = u32;

/// What is known of the threads of one block.
type Row = (u32, Rc<[u32]>);

/// For each thread of the grid the last of its epochs that is known; 0 is nothing.
///
/// A row holds the threads of one block. Rows and the table of rows are shared between clocks until one of them changes, so
/// that the clocks of a block's threads after a barrier are one and the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    rows: Option<Rc<Vec<Row>>>,
}

impl Clock {
    #[inline]
    pub(crate) fn get(&self, block: u32, thread: u32) -> u32 {
        let Some(rows) = &self.rows else { return 0 };
        match rows.binary_search_by_key(&block, |row| row.0) {
            Ok(at) => rows[at].1[thread as usize],
            Err(_) => 0,
        }
    }

    /// Sets one entry. `threads` is the length of a row.
    pub(crate) fn set(&mut self, block: u32, thread: u32, threads: usize, epoch: u32) {
        let rows = Rc::make_mut(self.rows.get_or_insert_default());
        let at = match rows.binary_search_by_key(&block, |row| row.0) {
            Ok(at) => at,
            Err(at) => {
                rows.insert(at, (block, vec![0; threads].into()));
                at
            }
        };
        if rows[at].1[thread as usize] != epoch {
            let row = Rc::make_mut(&mut rows[at].1);
            row[thread as usize] = epoch;
        }
    }

    /// Replaces the row of a block.
    pub(crate) fn set_row(&mut self, block: u32, row: Rc<[u32]>) {
        let rows = Rc::make_mut(self.rows.get_or_insert_default());
        match rows.binary_search_by_key(&block, |row| row.0) {
            Ok(at) => rows[at].1 = row,
            Err(at) => rows.insert(at, (block, row)),
        }
    }

    /// Learns everything that `other` knows.
    pub(crate) fn join(&mut self, other: &Self) {
        let Some(theirs) = &other.rows else { return };
        let Some(mine) = &mut self.rows else {
            self.rows = Some(theirs.clone());
            return;
        };
        if Rc::ptr_eq(mine, theirs) {
            return;
        }
        for (block, row) in theirs.iter() {
            match mine.binary_search_by_key(block, |row| row.0) {
                Ok(at) => {
                    let known = &mine[at].1;
                    if !Rc::ptr_eq(known, row) && known.iter().zip(row.iter()).any(|(mine, theirs)| mine < theirs) {
                        let joined = known.iter().zip(row.iter()).map(|(a, b)| *a.max(b)).collect();
                        Rc::make_mut(mine)[at].1 = joined;
                    }
                }
                Err(at) => Rc::make_mut(mine).insert(at, (*block, row.clone())),
            }
        }
    }
}

/// What a thread, or a message that a thread left in an atomic word, knows of the others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Knowledge {
    /// What happened before: the order that races are judged by.
    pub(crate) before: Clock,
    /// What came before in the order of sequentially consistent fences: it narrows which values may be read, and orders nothing
    /// else.
    pub(crate) fenced: Clock,
    /// What would be known in addition if every scope were wide enough: it tells why an order is missing.
    pub(crate) by_scope: Clock,
    /// What would be known in addition if every load of a released value acquired: as above.
    pub(crate) by_order: Clock,
}

impl Knowledge {
    pub(crate) fn join(&mut self, other: &Self) {
        self.before.join(&other.before);
        self.fenced.join(&other.fenced);
        self.by_scope.join(&other.by_scope);
        self.by_order.join(&other.by_order);
    }
}

/// A message: what the stores of a release sequence publish, and to whom.
#[derive(Clone, Debug, Default)]
pub(crate) struct Message {
    /// Released at device scope or wider.
    wide: Option<Rc<Knowledge>>,
    /// The one block that released it, if it is one.
    wide_from: Option<u32>,
    /// Released at block scope, by block, and what did so last.
    narrow: Vec<(u32, Rc<Knowledge>, &'static Location<'static>)>,
}

impl Message {
    pub(crate) fn is_empty(&self) -> bool {
        self.wide.is_none() && self.narrow.is_empty()
    }

    pub(crate) fn add_wide(&mut self, block: u32, knowledge: &Rc<Knowledge>) {
        match &mut self.wide {
            None => {
                self.wide = Some(knowledge.clone());
                self.wide_from = Some(block);
            }
            Some(wide) => {
                Rc::make_mut(wide).join(knowledge);
                if self.wide_from != Some(block) {
                    self.wide_from = None;
                }
            }
        }
    }

    pub(crate) fn add_narrow(&mut self, block: u32, knowledge: &Rc<Knowledge>, location: &'static Location<'static>) {
        match self.narrow.iter_mut().find(|(by, ..)| *by == block) {
            Some((_, known, last)) => {
                Rc::make_mut(known).join(knowledge);
                *last = location;
            }
            None => self.narrow.push((block, knowledge.clone(), location)),
        }
    }

    /// Each part of the message, and the narrowest scope with which a reader in `block` may acquire it; or what released it to
    /// another block alone, so that none is wide enough.
    pub(crate) fn parts(
        &self,
        block: u32,
    ) -> impl Iterator<Item = (&Rc<Knowledge>, Result<Scope, &'static Location<'static>>)> {
        let wide = self.wide.iter().map(move |knowledge| {
            let from_here = self.wide_from == Some(block);
            (knowledge, Ok(if from_here { Scope::Block } else { Scope::Device }))
        });
        let narrow = self.narrow.iter().map(move |(by, knowledge, location)| {
            let from_here = *by == block;
            (knowledge, if from_here { Ok(Scope::Block) } else { Err(*location) })
        });
        wide.chain(narrow)
    }
}
