//! How processes find each other before a run: all come to rank 0, which compares what they are about to do and hands over
//! NCCL's group, or says to all why not.

use super::error::RankError;
use super::launch::Launch;
use super::memory;
use super::wire::{self, Hello, Message, Ready};
use crate::clock::Instant;
use crate::files::reason;
use crate::solver::GroupId;
use crossbeam_channel::{Sender, bounded};
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// Between two attempts to reach rank 0, and between two looks at who has come.
const RETRY: Duration = Duration::from_millis(100);

/// How long one attempt to connect may take.
const CONNECT: Duration = Duration::from_secs(2);

/// How long one who has connected may take to say who it is: strangers say nothing.
const PRESENT: Duration = Duration::from_secs(5);

/// Once a run is refused, how long others may still come to learn why.
const LATE: Duration = Duration::from_secs(2);

/// How much longer than they wait for rank 0 the others wait for its answer: it may have begun to wait later.
const ANSWER: Duration = Duration::from_secs(5);

/// A process that has come, with what it said.
type Come = (Hello, TcpStream);

/// All others, as rank 0 knows them after the meeting: by their ranks.
pub(super) type Others = BTreeMap<usize, TcpStream>;

/// Listens where the others look for rank 0.
///
/// # Errors
/// [`RankError::Taken`] if another program does, or [`RankError::Listen`].
pub(super) fn listen(launch: &Launch) -> Result<TcpListener, RankError> {
    let port = launch.port;
    let bind = |address: IpAddr| TcpListener::bind(SocketAddr::new(address, port));
    // A name may stand for other addresses here than elsewhere; only one that says this machine is not for others.
    let bound = match launch.address.as_str() {
        "localhost" | "127.0.0.1" => bind(Ipv4Addr::LOCALHOST.into()),
        "::1" => bind(Ipv6Addr::LOCALHOST.into()),
        _ => match bind(Ipv6Addr::UNSPECIFIED.into()) {
            Err(error) if error.kind() != io::ErrorKind::AddrInUse => {
                bind(Ipv4Addr::UNSPECIFIED.into())
            }
            bound => bound,
        },
    };
    let bound = bound.and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    bound.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => RankError::Taken(port),
        _ => RankError::Listen { port, why: reason(&error) },
    })
}

/// Waits for all others as rank 0, which says `own` of itself, and makes the group. Whatever keeps them from making the run
/// together, all who have come learn it.
///
/// # Errors
/// [`RankError`] if some do not come, or the run is refused.
pub(super) fn receive(
    listener: &TcpListener,
    launch: &Launch,
    own: &Hello,
    new_group: impl FnOnce() -> Result<GroupId, String>,
) -> Result<(GroupId, Others), RankError> {
    let mut come = BTreeMap::new();
    let mut turned_away = Vec::new();
    let met = gather(listener, launch, own, &mut come, &mut turned_away);
    let agreed = met.and_then(|()| {
        let all = || std::iter::once(own).chain(come.values().map(|(hello, _)| hello));
        check(all()).and_then(|()| new_group()).map_err(RankError::Refused)
    });
    let answer = match &agreed {
        Ok(group) => Message::Go(group.0.to_vec()),
        Err(error) => Message::Refused(error.to_string()),
    };
    for (_, stream) in come.values_mut().chain(&mut turned_away) {
        // Who is gone by now is noticed later.
        _ = wire::write(stream, &answer);
    }
    let group = agreed?;
    Ok((group, come.into_iter().map(|(rank, (_, stream))| (rank, stream)).collect()))
}

/// Waits for the others, and sorts out who cannot be one of them.
fn gather(
    listener: &TcpListener,
    launch: &Launch,
    own: &Hello,
    come: &mut BTreeMap<usize, Come>,
    turned_away: &mut Vec<Come>,
) -> Result<(), RankError> {
    let (sender, presented) = bounded(own.count);
    let mut deadline = Instant::now() + launch.wait;
    let mut refused = None;
    while Instant::now() < deadline && (refused.is_some() || come.len() + 1 < own.count) {
        match listener.accept() {
            Ok((stream, _)) => present(stream, sender.clone())?,
            Err(_) => std::thread::sleep(RETRY / 10),
        }
        for (hello, stream) in presented.try_iter() {
            let (rank, count) = (hello.rank, hello.count);
            let why = if hello.version != own.version {
                format!(
                    "rank {rank} runs version {} and rank 0 version {}",
                    hello.version, own.version
                )
            } else if count != own.count {
                format!("WORLD_SIZE is {count} of rank {rank} and {} of rank 0", own.count)
            } else if rank == 0 || rank >= count || come.contains_key(&rank) {
                format!("two processes have RANK {rank}")
            } else {
                come.insert(rank, (hello, stream));
                continue;
            };
            turned_away.push((hello, stream));
            deadline = deadline.min(Instant::now() + LATE);
            refused.get_or_insert(why);
        }
    }
    if let Some(why) = refused {
        return Err(RankError::Refused(why));
    }
    let ranks: Vec<_> = (1..own.count).filter(|rank| !come.contains_key(rank)).collect();
    match ranks.is_empty() {
        true => Ok(()),
        false => Err(RankError::Absent { ranks, seconds: launch.wait.as_secs() }),
    }
}

/// Reads what one who has connected says of itself, on a thread of its own: strangers may say nothing.
fn present(stream: TcpStream, sender: Sender<Come>) -> Result<(), RankError> {
    let thread = std::thread::Builder::new().name("tilescope-hello".to_owned());
    let read = move || {
        let mut stream = stream;
        let ready = stream
            .set_nonblocking(false)
            .and_then(|()| stream.set_nodelay(true))
            .and_then(|()| stream.set_read_timeout(Some(PRESENT)));
        if let (Ok(()), Ok(Message::Hello(hello))) = (ready, wire::read(&mut stream)) {
            // Nobody waits for it any more if this fails.
            _ = sender.send((hello, stream));
        }
    };
    thread.spawn(read).map(drop).map_err(|error| RankError::Thread(reason(&error)))
}

/// Whether all are about to make the same run, each on a GPU of its own; why not, in a sentence.
fn check<'a>(all: impl Iterator<Item = &'a Hello>) -> Result<(), String> {
    let all: Vec<_> = all.collect();
    let Some((first, others)) = all.split_first() else { return Ok(()) };
    for other in others {
        if let Some([own, its]) = difference(&first.run, &other.run) {
            let rank = other.rank;
            return Err(format!("ranks 0 and {rank} disagree on the run: {own} and {its}"));
        }
    }
    let mut gpus: BTreeMap<&str, usize> = BTreeMap::new();
    let mut nccl: Option<(&str, usize)> = None;
    for Hello { rank, ready, .. } in &all {
        let Ready { nccl: version, gpu, .. } =
            ready.as_ref().map_err(|why| format!("rank {rank} cannot take part: {why}"))?;
        if let Some(other) = gpus.insert(gpu, *rank) {
            return Err(format!(
                "ranks {other} and {rank} have the same GPU; start one process for each GPU, with its number on the machine in LOCAL_RANK"
            ));
        }
        let (known, other) = *nccl.get_or_insert((version, *rank));
        if known != version {
            return Err(format!(
                "rank {other} has NCCL {known} and rank {rank} NCCL {version}; all must have the same"
            ));
        }
    }
    let ready = all.iter().filter_map(|hello| Some((hello.rank, hello.ready.as_ref().ok()?)));
    memory::check(ready.map(|(rank, ready)| (rank, &ready.memory)))
}

/// The first line in which two texts differ.
fn difference<'a>(one: &'a str, other: &'a str) -> Option<[&'a str; 2]> {
    let (mut one, mut other) = (one.lines(), other.lines());
    loop {
        match [one.next(), other.next()] {
            [None, None] => return None,
            [a, b] if a != b => return Some([a, b].map(|line| line.unwrap_or("nothing"))),
            _ => {}
        }
    }
}

/// Goes to rank 0 as another, with `own` to say, and waits for its answer.
///
/// # Errors
/// [`RankError`] if rank 0 is not there, does not answer, or refuses the run.
pub(super) fn go(launch: &Launch, own: Hello) -> Result<(GroupId, TcpStream), RankError> {
    let Launch { address, port, wait, .. } = launch;
    let begin = Instant::now();
    let hello = Message::Hello(own);
    let (mut is_known, mut was_reached) = (false, false);
    while begin.elapsed() < *wait {
        let places = (address.as_str(), *port).to_socket_addrs();
        for place in places.into_iter().flatten() {
            is_known = true;
            let Ok(mut stream) = TcpStream::connect_timeout(&place, CONNECT) else { continue };
            was_reached = true;
            let left = (*wait + ANSWER).saturating_sub(begin.elapsed()).max(RETRY);
            match ask(&mut stream, &hello, left) {
                Ok(Message::Go(bytes)) if bytes.len() == GroupId::BYTES => {
                    let mut group = [0; GroupId::BYTES];
                    group.copy_from_slice(&bytes);
                    return Ok((GroupId(group), stream));
                }
                Ok(Message::Refused(why)) => return Err(RankError::Refused(why)),
                // Another program, or a rank 0 that ended.
                _ => {}
            }
        }
        std::thread::sleep(RETRY);
    }
    let (at, seconds) = (format!("{address}:{port}"), wait.as_secs());
    Err(match (is_known, was_reached) {
        (false, _) => RankError::Address(address.clone()),
        (true, false) => RankError::NotReached { at, seconds },
        (true, true) => RankError::NoAnswer { at, seconds },
    })
}

fn ask(stream: &mut TcpStream, hello: &Message, patience: Duration) -> io::Result<Message> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(patience))?;
    wire::write(stream, hello)?;
    wire::read(stream)
}

#[cfg(test)]
mod tests {
    use super::super::memory::Memory;
    use super::*;
    use crate::solver::Rank;
    use std::thread;

    const GROUP: GroupId = GroupId([7; GroupId::BYTES]);

    /// As a launcher starts a process of `count` on this machine.
    fn launch(index: usize, count: usize, port: u16, seconds: u64) -> Launch {
        Launch {
            rank: Rank { index, count },
            local: Some(index),
            address: "127.0.0.1".to_owned(),
            port,
            wait: Duration::from_secs(seconds),
        }
    }

    fn hello(rank: usize, count: usize) -> Hello {
        let (nccl, gpu) = ("2.28.3".to_owned(), format!("gpu {rank}"));
        let ready = Ready { nccl, gpu, memory: Memory::of_this(0) };
        Hello {
            version: "1".to_owned(),
            rank,
            count,
            run: "tile = 32\nk = 8\n".to_owned(),
            ready: Ok(ready),
        }
    }

    /// A port that was free just now.
    fn port() -> u16 {
        TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
    }

    /// What each of these processes comes to, in the order of ranks; the first is rank 0.
    fn meet(hellos: Vec<Hello>, count: usize, seconds: u64) -> Vec<Result<GroupId, String>> {
        let port = port();
        let threads: Vec<_> = hellos
            .into_iter()
            .map(|hello| {
                let launch = launch(hello.rank, count, port, seconds);
                thread::spawn(move || -> Result<GroupId, RankError> {
                    if hello.rank > 0 {
                        return Ok(go(&launch, hello)?.0);
                    }
                    let listener = listen(&launch)?;
                    let (group, others) = receive(&listener, &launch, &hello, || Ok(GROUP))?;
                    assert_eq!(
                        others.into_keys().collect::<Vec<_>>(),
                        (1..count).collect::<Vec<_>>()
                    );
                    Ok(group)
                })
            })
            .collect();
        let done = threads.into_iter().map(|thread| thread.join().unwrap());
        done.map(|met| met.map_err(|error| error.to_string())).collect()
    }

    #[test]
    fn two_and_four_processes_get_the_group_of_rank_0() {
        for count in [2, 4] {
            let hellos = (0..count).map(|rank| hello(rank, count)).collect();
            assert_eq!(meet(hellos, count, 20), vec![Ok(GROUP); count]);
        }
    }

    /// Every process says the same sentence.
    fn all_say(hellos: Vec<Hello>, said: &str) {
        let count = hellos.len();
        for met in meet(hellos, count, 20) {
            assert_eq!(met.unwrap_err(), said);
        }
    }

    #[test]
    fn processes_that_cannot_make_one_run_all_say_why() {
        let four = || (0..4).map(|rank| hello(rank, 4)).collect::<Vec<_>>();
        let mut other_run = four();
        other_run[2].run = "tile = 32\nk = 16\n".to_owned();
        // Also where it cannot take part anyway.
        other_run[3].ready = Err("no GPU".to_owned());
        all_say(other_run, "ranks 0 and 2 disagree on the run: k = 8 and k = 16");
        let mut not_ready = four();
        not_ready[3].ready = Err("no GPU".to_owned());
        all_say(not_ready, "rank 3 cannot take part: no GPU");
        let mut same_gpu = four();
        same_gpu[3].ready = same_gpu[1].ready.clone();
        all_say(
            same_gpu,
            "ranks 1 and 3 have the same GPU; start one process for each GPU, with its number on the machine in LOCAL_RANK",
        );
        let mut old = four();
        old[1].ready = old[1].ready.clone().map(|it| Ready { nccl: "2.18.1".to_owned(), ..it });
        all_say(old, "rank 0 has NCCL 2.28.3 and rank 1 NCCL 2.18.1; all must have the same");
        let mut large = four();
        let needed = crate::grid::memory::available() / 3;
        for hello in &mut large {
            hello.ready =
                hello.ready.clone().map(|it| Ready { memory: Memory::of_this(needed), ..it });
        }
        for met in meet(large, 4, 20) {
            let said = met.unwrap_err();
            assert!(
                said.starts_with("ranks 0, 1, 2, 3 on ") && said.contains("together need"),
                "{said}"
            );
        }
        let mut version = vec![hello(0, 2), hello(1, 2)];
        version[1].version = "2".to_owned();
        all_say(version, "rank 1 runs version 2 and rank 0 version 1");
        all_say(vec![hello(0, 2), hello(1, 3)], "WORLD_SIZE is 3 of rank 1 and 2 of rank 0");
        all_say(vec![hello(0, 3), hello(1, 3), hello(1, 3)], "two processes have RANK 1");
    }

    #[test]
    fn a_rank_that_never_comes_is_named_to_those_who_have() {
        let said =
            "rank 2 did not come within 1 s; TILESCOPE_WAIT sets how long ranks are waited for";
        for met in meet(vec![hello(0, 3), hello(1, 3)], 3, 1) {
            assert_eq!(met.unwrap_err(), said);
        }
    }

    #[test]
    fn without_rank_0_the_others_end() {
        let port = port();
        let alone = launch(1, 2, port, 1);
        let said = go(&alone, hello(1, 2)).unwrap_err().to_string();
        assert_eq!(said, format!("rank 0 was not reached at 127.0.0.1:{port} within 1 s"));
        let nowhere = Launch { address: "no-such-machine.invalid".to_owned(), ..alone };
        let said = go(&nowhere, hello(1, 2)).unwrap_err().to_string();
        assert!(said.starts_with("MASTER_ADDR is no-such-machine.invalid, which is not"), "{said}");
    }

    #[test]
    fn a_port_that_is_taken_is_named_by_all() {
        let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = stranger.local_addr().unwrap().port();
        let said = listen(&launch(0, 2, port, 1)).unwrap_err().to_string();
        let expected = format!(
            "MASTER_PORT {port} is taken by another program on this machine; choose another port"
        );
        assert_eq!(said, expected);
        // It takes the others' calls and closes them.
        thread::spawn(move || {
            while let Ok((stream, _)) = stranger.accept() {
                drop(stream)
            }
        });
        let said = go(&launch(1, 2, port, 1), hello(1, 2)).unwrap_err().to_string();
        let expected = format!(
            "rank 0 did not answer at 127.0.0.1:{port} within 1 s; another program may have the port"
        );
        assert_eq!(said, expected);
    }

    #[test]
    fn strangers_are_not_taken_for_ranks() {
        let own = launch(0, 2, port(), 20);
        let listener = listen(&own).unwrap();
        let at = listener.local_addr().unwrap();
        let strangers = thread::spawn(move || {
            let silent = TcpStream::connect(at).unwrap();
            let mut loud = TcpStream::connect(at).unwrap();
            io::Write::write_all(&mut loud, b"GET / HTTP/1.1\r\n\r\n").unwrap();
            let rank = go(&launch(1, 2, at.port(), 20), hello(1, 2)).map(|(group, _)| group);
            drop(silent);
            rank.unwrap()
        });
        let (group, others) = receive(&listener, &own, &hello(0, 2), || Ok(GROUP)).unwrap();
        assert_eq!((group, others.len()), (GROUP, 1));
        assert_eq!(strangers.join().unwrap(), GROUP);
    }
}
