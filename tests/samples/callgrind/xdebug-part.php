<?php function_exists("g") || eval("function g() { return strrev(\"ab\"); }"); g();
