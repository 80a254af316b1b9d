# Loads a filter of system calls, then runs the command: load-filter.pl <number of prctl> <filter in hexadecimal digits> <command>
use strict;
my ($prctl, $filter) = (0 + shift, pack("H*", shift));
# struct sock_fprog: the number of instructions of 8 bytes each, and where they are.
my $program = pack("S x6 P", length($filter) / 8, $filter);
# PR_SET_SECCOMP, SECCOMP_MODE_FILTER
syscall($prctl, 22, 2, $program) == 0 or die "seccomp: $!\n";
exec { $ARGV[0] } @ARGV or die "exec: $!\n";
