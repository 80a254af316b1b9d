# Gives threads a time slice: set-slice.pl <number of sched_setattr> <nice value> <nanoseconds> <thread>...
use strict;
my ($number, $nice, $nanoseconds, @threads) = map { 0 + $_ } @ARGV;
# struct sched_attr: size, policy (SCHED_OTHER), flags, nice value, priority, slice; the rest is for real-time policies.
my $attributes = pack("L L Q l L Q Q Q", 48, 0, 0, $nice, 0, $nanoseconds, 0, 0);
syscall($number, $_, $attributes, 0) for @threads;
