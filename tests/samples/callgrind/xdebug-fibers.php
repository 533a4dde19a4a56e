<?php
// Two fibers that run by turns, each suspended within a call.
function step(string $name, int $i): void { str_repeat($name, 1000); Fiber::suspend($i); usleep(1); }
function worker(string $name): void { for ($i = 0; $i < 2; $i++) { step($name, $i); } }
function turns(): void
{
    $a = new Fiber('worker'); $b = new Fiber('worker');
    $a->start('a'); $b->start('b');
    while (!$a->isTerminated() || !$b->isTerminated()) {
        if (!$a->isTerminated()) { $a->resume(); }
        if (!$b->isTerminated()) { $b->resume(); }
    }
}
turns();
