<?php
// Frames that end in unusual ways: exceptions through several of them, generators, destructors, exit() within calls.
class Guard
{
    public function __construct(private string $name) {}
    public function __destruct() { note("end of {$this->name}"); }
}
function note(string $what): void { $GLOBALS['seen'][] = strtoupper($what); }
function fib(int $n): int { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
function even(int $n): bool { return $n === 0 || odd($n - 1); }
function odd(int $n): bool { return $n !== 0 && even($n - 1); }
function fails(int $depth): int
{
    $guard = new Guard("fails $depth");
    if ($depth === 0) { throw new RuntimeException('deep down'); }
    return fails($depth - 1);
}
function numbers(int $n): Generator
{
    for ($i = 0; $i < $n; $i++) { yield fib($i); }
}
function more(): Generator { yield from numbers(3); yield 99; }
function catches(): string
{
    try { fails(3); } catch (RuntimeException $e) { note($e->getMessage()); } finally { fib(3); }
    return str_repeat('x', 10000);
}
register_shutdown_function(function () { note('shutdown'); fib(4); });
set_error_handler(function ($no, $text) { note($text); return true; });
$kept = new Guard('kept');
for ($i = 0; $i < 3; $i++) { catches(); even(5); }
foreach (more() as $n) { note("$n"); }
array_map(fn($n) => fib($n), [3, 4]);
echo $undefined;
require __DIR__ . '/leave.php';
