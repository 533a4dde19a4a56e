<?php
function leave(int $depth): void
{
    if ($depth === 0) { exit(0); }
    leave($depth - 1);
}
leave(3);
