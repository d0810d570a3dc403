//! Whether the other processes of a run are alive: the connections of the meeting stay open to its end. One that closes, or
//! is silent for long, ends the run everywhere, also where a GPU waits for the lost one for ever.

use super::error::RankError;
use super::wire::{self, Message};
use crate::files::reason;
use crate::solver::Rank;
use crossbeam_channel::{Receiver, Sender, bounded};
use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often a process says that it runs, and how long it may be silent: a machine that loses its power closes nothing.
const ALIVE: Duration = Duration::from_secs(2);
const SILENCE: Duration = Duration::from_secs(20);

/// How long a message may wait to be sent, and those that are lost to be read before this process ends.
const SEND: Duration = Duration::from_secs(5);
const READ: Duration = Duration::from_millis(500);

/// How long the end of the others is waited for once all is done.
const END: Duration = Duration::from_secs(2);

/// What is done once a rank is lost: it gets the sentence.
type OnLost = Box<dyn Fn(&str) + Send + Sync>;

/// The connections to the other processes: of rank 0 to all, of others to rank 0.
pub(in crate::cli) struct Watch {
    shared: Arc<Shared>,
    /// What rank 0 says at the end.
    done: Receiver<bool>,
    /// Gets a word from every connection that ended.
    ended: Receiver<()>,
}

struct Shared {
    rank: Rank,
    streams: BTreeMap<usize, Mutex<TcpStream>>,
    /// Whether the run is over here, so that nobody is missed.
    is_over: AtomicBool,
    on_lost: OnLost,
}

impl Watch {
    /// Watches the connections, each on a thread of its own; `on_lost` is called on one of them.
    ///
    /// # Errors
    /// [`RankError::Thread`] if the system has none.
    pub fn begin(
        rank: Rank,
        streams: BTreeMap<usize, TcpStream>,
        on_lost: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Self, RankError> {
        let why = |error: std::io::Error| RankError::Thread(reason(&error));
        let mut readers = Vec::new();
        for (peer, stream) in &streams {
            stream.set_read_timeout(Some(SILENCE)).map_err(why)?;
            stream.set_write_timeout(Some(SEND)).map_err(why)?;
            readers.push((*peer, stream.try_clone().map_err(why)?));
        }
        let count = streams.len();
        let streams = streams.into_iter().map(|(peer, stream)| (peer, Mutex::new(stream)));
        let shared = Arc::new(Shared {
            rank,
            streams: streams.collect(),
            is_over: AtomicBool::new(false),
            on_lost: Box::new(on_lost),
        });
        let ((done_sender, done), (end_sender, ended)) = (bounded(1), bounded(count));
        // From here on a failure ends the watch, and with it the threads that were started.
        let watch = Self { shared: Arc::clone(&shared), done, ended };
        let named = |name: String| std::thread::Builder::new().name(name);
        for (peer, stream) in readers {
            let (shared, done, ended) =
                (Arc::clone(&shared), done_sender.clone(), end_sender.clone());
            let read = move || {
                shared.read(peer, stream, &done);
                _ = ended.try_send(());
            };
            named(format!("tilescope-rank-{peer}")).spawn(read).map_err(why)?;
        }
        named("tilescope-alive".to_owned()).spawn(move || shared.say_alive()).map_err(why)?;
        Ok(watch)
    }

    /// Tells the others as rank 0 that all is printed and saved, and waits until they have heard it.
    pub fn finish(self, is_success: bool) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        self.shared.send_to_all(&Message::Done(is_success));
        for _ in 0..self.shared.streams.len() {
            if self.ended.recv_timeout(END).is_err() {
                break;
            }
        }
    }

    /// Waits as another rank until rank 0 has printed and saved everything; returns whether the run was a success. A rank 0
    /// that is lost meanwhile is reported as ever.
    pub fn wait_for_end(self) -> bool {
        self.done.recv().unwrap_or(false)
    }

    /// Waits a little for the news of a lost rank: who fails without it is likely to fail for it.
    pub fn wait_for_news(&self) {
        std::thread::sleep(END);
    }
}

impl Drop for Watch {
    /// Whoever is still at work sees that this process ended.
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        for stream in self.shared.streams.values() {
            _ = stream.lock().unwrap_or_else(PoisonError::into_inner).shutdown(Shutdown::Both);
        }
    }
}

impl Shared {
    /// Reads what another process says, to its end.
    fn read(&self, peer: usize, mut stream: TcpStream, done: &Sender<bool>) {
        loop {
            match wire::read(&mut stream) {
                Ok(Message::Alive) => {}
                Ok(Message::Done(is_success)) => {
                    self.is_over.store(true, Ordering::SeqCst);
                    _ = done.try_send(is_success);
                    return;
                }
                Ok(Message::Lost(rank)) => return self.lose(rank),
                _ => return self.lose(peer),
            }
        }
    }

    /// Ends the run here and everywhere.
    fn lose(&self, lost: usize) {
        // Only the first that is lost is news.
        if self.is_over.swap(true, Ordering::SeqCst) {
            return;
        }
        if self.rank.index == 0 {
            self.send_to_all(&Message::Lost(lost));
            std::thread::sleep(READ);
        }
        (self.on_lost)(&format!("rank {lost} ended before the run was done"));
    }

    fn send_to_all(&self, message: &Message) {
        for stream in self.streams.values() {
            let mut stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
            // Who does not get it is lost, which its own connection shows.
            _ = wire::write(&mut *stream, message);
        }
    }

    fn say_alive(&self) {
        while !self.is_over.load(Ordering::SeqCst) {
            self.send_to_all(&Message::Alive);
            std::thread::sleep(ALIVE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// The watches of `count` processes, in the order of ranks, and what each says of a lost one.
    fn watches(count: usize) -> (Vec<Watch>, Vec<Receiver<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut streams: Vec<_> = (0..count).map(|_| BTreeMap::new()).collect();
        for rank in 1..count {
            let own = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            streams[rank].insert(0, own);
            streams[0].insert(rank, listener.accept().unwrap().0);
        }
        let begin = |(index, streams): (usize, BTreeMap<usize, TcpStream>)| {
            let (sender, said) = bounded(count);
            let on_lost = move |sentence: &str| sender.send(sentence.to_owned()).unwrap();
            (Watch::begin(Rank { index, count }, streams, on_lost).unwrap(), said)
        };
        streams.into_iter().enumerate().map(begin).unzip()
    }

    #[test]
    fn a_rank_that_ends_early_ends_the_run_of_all_others() {
        for count in [2, 4] {
            for lost in 0..count {
                let (mut watches, said) = watches(count);
                drop(watches.remove(lost));
                let expected = format!("rank {lost} ended before the run was done");
                for (rank, said) in said.iter().enumerate().filter(|(rank, _)| *rank != lost) {
                    let found = said.recv_timeout(SILENCE).expect("it is noticed");
                    assert_eq!(found, expected, "rank {rank} of {count}");
                    // No other is named.
                    assert!(said.recv_timeout(READ).is_err());
                }
            }
        }
    }

    #[test]
    fn all_end_together_with_the_outcome_of_rank_0() {
        for is_success in [true, false] {
            let (watches, said) = watches(4);
            let mut watches = watches.into_iter();
            let first = watches.next().unwrap();
            let others: Vec<_> =
                watches.map(|watch| std::thread::spawn(move || watch.wait_for_end())).collect();
            first.finish(is_success);
            for other in others {
                assert_eq!(other.join().unwrap(), is_success);
            }
            for said in said {
                assert!(said.recv_timeout(READ / 10).is_err(), "nobody is missed");
            }
        }
    }
}
