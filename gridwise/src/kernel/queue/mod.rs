//! Work queues: how blocks find something to do.
//!
//! | queue | work | claim |
//! |---|---|---|
//! | [`ChunkCounter`] | indices known beforehand | the next chunk, by one atomic addition |
//! | [`TwoLevelQueue`] | indices known beforehand, of very different cost | a small piece of a large one, one's own or another's |
//! | [`TaskQueue`] | tasks that make further tasks | the block's own, else a batch from a ring that all share |
//!
//! The state of a queue belongs to one launch: the host clears it and lends it out, and no kernel resets it. The protocol of
//! the task queue is in the `README.md` beside this file.

mod chunk_counter;
pub(crate) mod ring;
mod spawner;
pub(crate) mod task_queue;
mod tasks;
#[cfg(all(test, not(loom), feature = "std"))]
mod test_check;
#[cfg(all(test, loom))]
mod test_loom;
mod two_level;
pub(crate) mod words;

#[cfg(feature = "std")]
pub(crate) use chunk_counter::Plan;
pub use chunk_counter::{ChunkCounter, Claims, Level};
pub use ring::{LINE_WORDS, Ring};
pub use spawner::Spawner;
pub use task_queue::{Order, TaskQueue};
#[doc(hidden)]
pub use tasks::TaskForm;
pub use tasks::Tasks;
pub use two_level::{PieceClaims, TwoLevelQueue};
