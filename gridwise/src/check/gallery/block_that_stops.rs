//! Look-back waits for tiles that have started, on a device that may stop a block: only a tile that helps itself gets on

use super::exhibit::*;

exhibit! {
    "block_that_stops", "A5.3", "Look-back waits for tiles that have started, on a device that may stop a block: only a tile that helps itself gets on",
    finds [NoProgress],
    Kernel on |_| Blocks::Exactly(4).threads(1),
    shared (),
    schedules 60,
    model |model| model.progress = false,
}

/// Times that a tile looks before it helps itself.
const PATIENCE: usize = 3;

fn kernel<A: Acc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let tile = words.atomic(8).fetch_add(acc, 1, Ordering::Relaxed) as usize;
    // A word is 1 and what the tiles up to this one sum up to, or 0.
    let before = match tile.checked_sub(1) {
        None => 1,
        Some(before) if !fixed => words.atomic(before).wait_until(acc, Ordering::Acquire, |sum| sum > 0),
        Some(before) => {
            let look = |_| Some(words.atomic(before).load(acc, Ordering::Acquire)).filter(|sum| *sum > 0);
            let recomputed = || (0..tile).map(|i| data.get(acc, i)).sum::<u32>() + 1;
            (0..PATIENCE).find_map(look).unwrap_or_else(recomputed)
        }
    };
    let sum = before + data.get(acc, tile);
    words.atomic(tile).store(acc, sum, Ordering::Release);
}
