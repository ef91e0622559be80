"""Threads that wait in compiled code: a batch is shared in microseconds, without the interpreter lock.

    void lw_serve(ptr mail)                                       a thread's whole life: take the job of its mailbox, run it
    void lw_share(ptr mails, i64 count, ptr function, ptr job)    run `function` on `job` here, on the jobs of all mailboxes there

A mailbox is idle, posted or taken. The caller works too: jobs share a counter of what is left to do, so a thread that wakes late
finds less to do, and a job that nobody took before the caller had finished everything is taken back. A thread looks for work some
hundred times, giving way to others each time, before it sleeps.
"""

from __future__ import annotations

import ctypes
import functools
import os
import struct
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from ..errors import InputError
from ..spatial.gate import shown
from . import machine
from .records import load_field

IDLE, POSTED, TAKEN = 0, 1, 2
LOOKS = 400  # about 100 microseconds
MAIL = ("state", "asleep", "function", "job", "mutex", "condition", "lock", "unlock", "wait", "signal", "give_way")
CALLS = ("pthread_mutex_lock", "pthread_mutex_unlock", "pthread_cond_wait", "pthread_cond_signal", "sched_yield")
Done = TypeVar("Done")
OPAQUE = 256  # bytes: more than any system's mutex or condition variable


def workers_ir() -> str:
    """See the head of the module."""
    fields = ["  %asleep = getelementptr i64, ptr %mail, i64 1"]
    for index, name in enumerate(MAIL):
        if index > 1:
            load_field(fields, name, index, "%mail", "ptr")
    load = "\n".join(fields)
    return f"""define void @lw_serve(ptr %mail) {{
start:
{load}
  br label %look
look:
  %k = phi i64 [ 0, %start ], [ 0, %run ], [ 0, %awake ], [ %k.next, %nothing ]
  %taking = cmpxchg ptr %mail, i64 {POSTED}, i64 {TAKEN} seq_cst seq_cst
  %taken = extractvalue {{ i64, i1 }} %taking, 1
  br i1 %taken, label %run, label %nothing
run:
  %function.now.p = getelementptr i64, ptr %mail, i64 {MAIL.index("function")}
  %function.now = load ptr, ptr %function.now.p
  %job.now.p = getelementptr i64, ptr %mail, i64 {MAIL.index("job")}
  %job.now = load ptr, ptr %job.now.p
  call void %function.now(ptr %job.now)
  store atomic i64 {IDLE}, ptr %mail release, align 8
  br label %look
nothing:
  %yielded = call i32 %give_way()
  %k.next = add i64 %k, 1
  %again = icmp slt i64 %k.next, {LOOKS}
  br i1 %again, label %look, label %sleep
sleep:
  %locked = call i32 %lock(ptr %mutex)
  store atomic i64 1, ptr %asleep seq_cst, align 8
  br label %check
check:
  %state = load atomic i64, ptr %mail seq_cst, align 8
  %posted = icmp eq i64 %state, {POSTED}
  br i1 %posted, label %awake, label %wait.more
wait.more:
  %waited = call i32 %wait(ptr %condition, ptr %mutex)
  br label %check
awake:
  store atomic i64 0, ptr %asleep seq_cst, align 8
  %unlocked = call i32 %unlock(ptr %mutex)
  br label %look
}}

define void @lw_post(ptr %mail) {{
start:
{load}
  store atomic i64 {POSTED}, ptr %mail seq_cst, align 8
  %sleeps = load atomic i64, ptr %asleep seq_cst, align 8
  %must.wake = icmp ne i64 %sleeps, 0
  br i1 %must.wake, label %wake, label %done
wake:
  %locked = call i32 %lock(ptr %mutex)
  %signalled = call i32 %signal(ptr %condition)
  %unlocked = call i32 %unlock(ptr %mutex)
  br label %done
done:
  ret void
}}

define void @lw_collect(ptr %mail) {{
start:
{load}
  %taking = cmpxchg ptr %mail, i64 {POSTED}, i64 {IDLE} seq_cst seq_cst
  %taken.back = extractvalue {{ i64, i1 }} %taking, 1
  br i1 %taken.back, label %done, label %look
look:
  %state = load atomic i64, ptr %mail acquire, align 8
  %ready = icmp eq i64 %state, {IDLE}
  br i1 %ready, label %done, label %later
later:
  %yielded = call i32 %give_way()
  br label %look
done:
  ret void
}}

define void @lw_share(ptr %mails, i64 %count, ptr %function, ptr %job) {{
start:
  br label %posting
posting:
  %i = phi i64 [ 0, %start ], [ %i.next, %posting ]
  %at = getelementptr ptr, ptr %mails, i64 %i
  %mail = load ptr, ptr %at
  call void @lw_post(ptr %mail)
  %i.next = add i64 %i, 1
  %i.more = icmp slt i64 %i.next, %count
  br i1 %i.more, label %posting, label %own
own:
  call void %function(ptr %job)
  br label %collecting
collecting:
  %j = phi i64 [ 0, %own ], [ %j.next, %collecting ]
  %back = getelementptr ptr, ptr %mails, i64 %j
  %from = load ptr, ptr %back
  call void @lw_collect(ptr %from)
  %j.next = add i64 %j, 1
  %j.more = icmp slt i64 %j.next, %count
  br i1 %j.more, label %collecting, label %done
done:
  ret void
}}"""


@functools.cache
def _library() -> machine.Library:
    return machine.Library.of_text("workers", workers_ir())


_serving: list[_Worker] = []  # a thread reads its mailbox as long as the process lives, so none is ever freed


class _Worker:
    """A thread and its mailbox."""

    def __init__(self) -> None:
        system = ctypes.CDLL(None)
        self._locks = ctypes.create_string_buffer(2 * OPAQUE)
        mutex = ctypes.addressof(self._locks)
        condition = mutex + OPAQUE
        if system.pthread_mutex_init(ctypes.c_void_p(mutex), None) or system.pthread_cond_init(ctypes.c_void_p(condition), None):
            raise OSError("the system has no more locks")
        calls = [ctypes.cast(getattr(system, name), ctypes.c_void_p).value or 0 for name in CALLS]
        self._mail = ctypes.create_string_buffer(struct.pack(f"{len(MAIL)}q", IDLE, 0, 0, 0, mutex, condition, *calls))
        self.mail_at = ctypes.addressof(self._mail)
        _serving.append(self)
        serve = _library().function("lw_serve", ctypes.c_void_p)
        threading.Thread(target=serve, args=(self.mail_at,), name="linkwork", daemon=True).start()

    def give(self, function: int, job: int) -> None:
        """Write a job into the mailbox; it is not posted yet."""
        struct.pack_into("qq", self._mail, 8 * MAIL.index("function"), function, job)


class Workers:
    """The threads of the process, made on first use; see `workers`."""

    def __init__(self) -> None:
        self._workers: list[_Worker] = []
        self._hiring = threading.Lock()
        self._busy = threading.Lock()
        self.share_at = _library().address("lw_share")
        self.share = _library().function("lw_share", ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)

    def mails(self, count: int) -> ctypes.Array[ctypes.c_void_p]:
        """The mailboxes of the first threads."""
        with self._hiring:
            while len(self._workers) < count:
                self._workers.append(_Worker())
        return (ctypes.c_void_p * count)(*(w.mail_at for w in self._workers[:count]))

    def work(self, function: int, jobs: Sequence[int], together: Callable[[], Done], alone: Callable[[], Done]) -> Done:
        """`together()`, which calls `lw_share`, with all jobs but the first in mailboxes; `alone()` if the threads work for
        another caller: jobs share what is left to do, so the first one can do all of it."""
        if not self._busy.acquire(blocking=False):
            return alone()
        try:
            for worker, job in zip(self._workers, jobs[1:], strict=False):
                worker.give(function, job)
            return together()
        finally:
            self._busy.release()


class _Process:
    """The one team of the process. `functools.cache` would let callers that come at once make a team each."""

    def __init__(self) -> None:
        self._making = threading.Lock()
        self._team: Workers | None = None

    def forget(self) -> None:
        """Begin anew, with a lock that nobody holds."""
        self.__init__()

    def team(self) -> Workers:
        with self._making:
            if self._team is None:
                self._team = Workers()
            return self._team


_process = _Process()
workers = _process.team
AVAILABLE = os.name == "posix"
if AVAILABLE:
    os.register_at_fork(after_in_child=_process.forget)  # threads do not follow into a child


_told_of_cores = False


def thread_count(threads: int | None) -> int:
    """How many threads are meant; None means one for every core."""
    if threads is None:
        return os.cpu_count() or 1
    if isinstance(threads, bool) or not isinstance(threads, int | np.integer) or threads < 1:
        raise InputError(f"threads must be a positive whole number, or None for one per core, not {shown(threads)}")
    return 1 if threads == 1 else _capped(int(threads))


def _capped(threads: int) -> int:
    """At most so many threads as there are cores: more would wait for each other. Says so once in a process."""
    cores = os.cpu_count() or 1
    if threads <= cores:
        return threads
    global _told_of_cores
    if not _told_of_cores:
        _told_of_cores = True
        warnings.warn(f"threads={shown(threads)}: there are {cores} cores, and no more threads are started", stacklevel=2)
    return cores


def share(address: int, function: Callable[[int], None], jobs: Sequence[int]) -> None:
    """Run the jobs of one piece of work in several threads, or all of it here if there are none to spare."""
    if not AVAILABLE:
        return function(jobs[0])
    team = workers()
    mails = team.mails(len(jobs) - 1)
    team.work(address, jobs, lambda: team.share(mails, len(mails), address, jobs[0]), lambda: function(jobs[0]))
