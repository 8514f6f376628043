//! A preview on several threads, with the result of one.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::run::{NextPart, PreviewRun};
use super::written_manifest::WrittenManifest;
use super::{Preview, PreviewInput, PreviewRow};

/// A manifest that was written, with the position of its row.
type Pending = (usize, Box<WrittenManifest>);

impl Preview {
    /// Runs a whole preview on several threads, with the same result as [`run`](Self::run): the tool writes on
    /// this thread, one manifest after the other, and every thread compares. A browser has no threads.
    pub fn on_threads(input: PreviewInput, threads: usize) -> Self {
        let mut run = PreviewRun::new(input);
        let (pending, received) = channel::<Pending>();
        let received = Mutex::new(received);
        let rows = thread::scope(|scope| {
            let others: Vec<_> = (1..threads)
                .map(|_| scope.spawn(|| rows_of(&received)))
                .collect();
            let (mut rows, mut count) = (Vec::new(), 0);
            loop {
                match run.next_part() {
                    NextPart::Nothing => break,
                    NextPart::Prepared => continue,
                    NextPart::Row(row) => rows.push((count, *row)),
                    // It fails if nobody receives, and `received` lives longer.
                    NextPart::Written(written) => drop(pending.send((count, written))),
                }
                count += 1;
            }
            drop(pending);
            rows.extend(rows_of(&received));
            for other in others {
                rows.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
            rows
        });
        run.finish_with(rows)
    }
}

/// Makes rows until everything is written and nothing is pending.
fn rows_of(received: &Mutex<Receiver<Pending>>) -> Vec<(usize, PreviewRow)> {
    let mut rows = Vec::new();
    loop {
        let next = received.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok((at, written)) = next.recv() else {
            return rows;
        };
        drop(next);
        rows.push((at, written.row()));
    }
}
