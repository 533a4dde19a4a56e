<?php
function f(int $n): int { return $n < 1 ? 0 : 1 + f($n - 1); }
f(3); strtolower('A'); include __DIR__ . '/part.php'; include __DIR__ . '/part.php';
