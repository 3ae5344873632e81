/* SPDX-License-Identifier: Apache-2.0 */
/* How many primes are there up to the first argument? */
#include <stdio.h>
#include <stdlib.h>

static int is_prime(unsigned long n)
{
	for (unsigned long d = 2; d * d <= n; d++)
		if (n % d == 0)
			return 0;
	return n > 1;
}

int main(int argc, char **argv)
{
	const unsigned long most = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
	int primes = 0;

	for (unsigned long n = 1; n <= most; n++)
		primes += is_prime(n);
	printf("%d primes\n", primes);
	return 0;
}
