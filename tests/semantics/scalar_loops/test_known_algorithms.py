"""Loops over numbers and items of arrays as everybody has written them, with several inputs each."""

import math

import numpy as np
import pytest
from differential import check_calls


def lcs(a, b):
    table = np.zeros((len(a) + 1, len(b) + 1), dtype=np.int64)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            if a[i - 1] == b[j - 1]:
                table[i, j] = table[i - 1, j - 1] + 1
            else:
                table[i, j] = max(table[i - 1, j], table[i, j - 1])
    return table[len(a), len(b)], table


def edit_distance(a, b):
    before = np.arange(len(b) + 1)
    for i in range(len(a)):
        now = np.zeros(len(b) + 1, dtype=np.int64)
        now[0] = i + 1
        for j in range(len(b)):
            cost = 0 if a[i] == b[j] else 1
            now[j + 1] = min(before[j + 1] + 1, now[j] + 1, before[j] + cost)
        before = now
    return before[-1]


def needleman_wunsch(a, b):
    score = np.zeros((len(a) + 1, len(b) + 1))
    for i in range(len(a) + 1):
        score[i][0] = -2.0 * i
    for j in range(len(b) + 1):
        score[0][j] = -2.0 * j
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            best = score[i - 1][j - 1] + (1.0 if a[i - 1] == b[j - 1] else -1.0)
            if score[i - 1][j] - 2.0 > best:
                best = score[i - 1][j] - 2.0
            if score[i][j - 1] - 2.0 > best:
                best = score[i][j - 1] - 2.0
            score[i][j] = best
    return score


def longest_increasing(a, _):
    best = np.ones(len(a), dtype=np.int64)
    for i in range(len(a)):
        for j in range(i):
            if a[j] < a[i] and best[j] + 1 > best[i]:
                best[i] = best[j] + 1
    return best


def floyd_warshall(d):
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]
    return d


def heat(u):
    for _ in range(12):
        new = u.copy()
        for i in range(1, len(u) - 1):
            new[i] = u[i] + 0.1 * (u[i - 1] - 2 * u[i] + u[i + 1])
        u = new
    return u


def gauss_seidel(m):
    change, steps = 1.0, 0
    while change > 1e-3 and steps < 30:
        change = 0.0
        for i in range(1, m.shape[0] - 1):
            for j in range(1, m.shape[1] - 1):
                new = 0.25 * (m[i - 1, j] + m[i + 1, j] + m[i, j - 1] + m[i, j + 1])
                change = max(change, abs(new - m[i, j]))
                m[i, j] = new
        steps += 1
    return change, steps


def life(cells):
    rows, columns = cells.shape
    for _ in range(3):
        new = np.zeros((rows, columns), dtype=bool)
        for i in range(rows):
            for j in range(columns):
                alive = 0
                for di in (-1, 0, 1):
                    for dj in range(-1, 2):
                        if (di or dj) and cells[(i + di) % rows, (j + dj) % columns]:
                            alive += 1
                new[i, j] = alive == 3 or (cells[i, j] and alive == 2)
        cells = new
    return cells


def ising(spins, picked, drawn):
    n, energy = len(spins), 0
    for step in range(len(picked)):
        i = picked[step] % n
        delta = 2 * spins[i] * (spins[(i - 1) % n] + spins[(i + 1) % n])
        if delta <= 0 or drawn[step] < math.exp(-delta / 1.5):
            spins[i] = -spins[i]
            energy += delta
    return energy


def mandelbrot(size, limit):
    counts = np.zeros((size, size), dtype=np.int64)
    for i in range(size):
        for j in range(size):
            cr, ci = 3.0 * j / size - 2.0, 2.0 * i / size - 1.0
            zr = zi = 0.0
            n = 0
            while zr * zr + zi * zi <= 4.0 and n < limit:
                zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
                n += 1
            counts[i, j] = n
    return counts


def queens(n):
    places, row, found = np.full(n, -1), 0, 0
    while row >= 0:
        places[row] += 1
        while places[row] < n:
            ok = True
            for r in range(row):
                if places[r] == places[row] or abs(places[r] - places[row]) == row - r:
                    ok = False
                    break
            if ok:
                break
            places[row] += 1
        if places[row] >= n:
            places[row] = -1
            row -= 1
        elif row == n - 1:
            found += 1
        else:
            row += 1
    return found


def sieve(n):
    prime = np.ones(n + 1, dtype=bool)
    prime[0] = prime[1] = False
    i = 2
    while i * i <= n:
        if prime[i]:
            for j in range(i * i, n + 1, i):
                prime[j] = False
        i += 1
    count = 0
    for i in range(n + 1):
        if prime[i]:
            count += 1
    return count, prime


def bubble_sort(a):
    for i in range(len(a)):
        swapped = False
        for j in range(len(a) - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
                swapped = True
        if not swapped:
            break
    return i


def insertion_sort(a):
    for i in range(1, len(a)):
        key, j = a[i], i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    return a


def shell_sort(a):
    gap = len(a) // 2
    while gap > 0:
        for i in range(gap, len(a)):
            held, j = a[i], i
            while j >= gap and a[j - gap] > held:
                a[j] = a[j - gap]
                j -= gap
            a[j] = held
        gap //= 2
    return a


def searches(a, wanted):
    hits = 0
    for i in range(len(wanted)):
        low, high = 0, len(a) - 1
        while low <= high:
            middle = (low + high) // 2
            if a[middle] == wanted[i]:
                hits += middle
                break
            if a[middle] < wanted[i]:
                low = middle + 1
            else:
                high = middle - 1
        else:
            hits -= 1
    return hits


def knapsack(weights, values, room):
    best = np.zeros(room + 1, dtype=np.int64)
    for i in range(len(weights)):
        for w in range(room, weights[i] - 1, -1):
            if best[w - weights[i]] + values[i] > best[w]:
                best[w] = best[w - weights[i]] + values[i]
    return best


def matrix_chain(sizes):
    n = len(sizes) - 1
    cost = np.zeros((n, n))
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            cost[i, j] = float("inf")
            for k in range(i, j):
                q = cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                if q < cost[i, j]:
                    cost[i, j] = q
    return cost


def flood_fill(grid, i, j):
    stack = np.zeros((400, 2), dtype=np.int64)
    stack[0, 0], stack[0, 1] = i, j
    top, filled = 1, 0
    while top > 0:
        top -= 1
        i, j = stack[top, 0], stack[top, 1]
        if i < 0 or j < 0 or i >= grid.shape[0] or j >= grid.shape[1] or grid[i, j] != 0:
            continue
        grid[i, j] = 7
        filled += 1
        for k in range(4):
            stack[top, 0] = i + (k == 0) - (k == 1)
            stack[top, 1] = j + (k == 2) - (k == 3)
            top += 1
    return filled


def cumulative(a):
    total = 0
    for i in range(len(a)):
        total += a[i]
        a[i] = total
    return total


def moving_average(a, width):
    out = np.empty(len(a) - width + 1)
    for i in range(len(out)):
        s = 0.0
        for j in range(width):
            s += a[i + j]
        out[i] = s / width
    return out


def run_lengths(a):
    best, length = 0, 0
    previous = None
    for i in range(len(a)):
        length = length + 1 if previous is not None and a[i] == previous else 1
        previous = a[i]
        if length > best:
            best = length
    return best, length


def histogram(a, bins):
    counts = np.zeros(bins, dtype=np.int64)
    low, high = a[0], a[0]
    for i in range(1, len(a)):
        if a[i] < low:
            low = a[i]
        elif a[i] > high:
            high = a[i]
    for i in range(len(a)):
        counts[min(int((a[i] - low) / (high - low) * bins), bins - 1)] += 1
    return counts, low, high


def bresenham(x0, y0, x1, y1):
    image = np.zeros((24, 24), dtype=np.int64)
    dx, dy = abs(x1 - x0), -abs(y1 - y0)
    sx, sy = 1 if x0 < x1 else -1, 1 if y0 < y1 else -1
    error = dx + dy
    while True:
        image[y0, x0] += 1
        if x0 == x1 and y0 == y1:
            break
        twice = 2 * error
        if twice >= dy:
            error += dy
            x0 += sx
        if twice <= dx:
            error += dx
            y0 += sy
    return image


def convolve(a, kernel):
    out = np.zeros(len(a) + len(kernel) - 1)
    for i in range(len(a)):
        for j in range(len(kernel)):
            out[i + j] += a[i] * kernel[j]
    return out


def lu(m):
    n = len(m)
    for k in range(n):
        for i in range(k + 1, n):
            m[i, k] /= m[k, k]
            for j in range(k + 1, n):
                m[i, j] -= m[i, k] * m[k, j]
    return m


def cholesky(m):
    n = len(m)
    low = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = m[i, j]
            for k in range(j):
                s -= low[i, k] * low[j, k]
            low[i, j] = math.sqrt(s) if i == j else s / low[j, j]
    return low


def multiply(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i][j] += a[i][k] * b[k][j]
    return c


def kalman(seen):
    x, p = 0.0, 1.0
    for i in range(len(seen)):
        p += 1e-3
        gain = p / (p + 0.1)
        x = x + gain * (seen[i] - x)
        p = (1 - gain) * p
    return x, p


def logistic(x, steps):
    out = np.zeros(steps)
    for i in range(steps):
        x = 3.9 * x * (1 - x)
        out[i] = x
    return out, x


def runge_kutta(x, v, steps):
    h, t = 0.05, 0.0
    for _ in range(steps):
        k1, l1 = v, -x
        k2, l2 = v + h / 2 * l1, -(x + h / 2 * k1)
        k3, l3 = v + h / 2 * l2, -(x + h / 2 * k2)
        k4, l4 = v + h * l3, -(x + h * k3)
        x += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        v += h / 6 * (l1 + 2 * l2 + 2 * l3 + l4)
        t += h
    return x, v, t


def walk(steps):
    x = y = far = 0
    for i in range(len(steps)):
        way = steps[i] % 4
        if way == 0:
            x += 1
        elif way == 1:
            x -= 1
        elif way == 2:
            y += 1
        else:
            y -= 1
        far = max(far, abs(x) + abs(y))
    return x, y, far


def viterbi(start, change, emit, seen):
    states = len(start)
    p = np.zeros((len(seen), states))
    back = np.zeros((len(seen), states), dtype=np.int64)
    for s in range(states):
        p[0, s] = start[s] * emit[s, seen[0]]
    for t in range(1, len(seen)):
        for s in range(states):
            best, which = -1.0, 0
            for r in range(states):
                q = p[t - 1, r] * change[r, s]
                if q > best:
                    best, which = q, r
            p[t, s] = best * emit[s, seen[t]]
            back[t, s] = which
    return p, back


def percolation(open_cells):
    n = len(open_cells)
    parent = np.arange(n * n)
    for i in range(n):
        for j in range(n):
            if not open_cells[i, j]:
                continue
            for k in range(2):
                a, b = (i - 1, j) if k == 0 else (i, j - 1)
                if a < 0 or b < 0 or not open_cells[a, b]:
                    continue
                p, q = i * n + j, a * n + b
                while parent[p] != p:
                    parent[p] = parent[parent[p]]
                    p = parent[p]
                while parent[q] != q:
                    q = parent[q]
                parent[p] = q
    return parent


def newton(values):
    for i in range(len(values)):
        x = values[i] if values[i] > 1 else 1.0
        for _ in range(40):
            nearer = 0.5 * (x + values[i] / x)
            if abs(nearer - x) < 1e-12:
                break
            x = nearer
        values[i] = x
    return values


def gcds(a, b):
    total = 0
    for i in range(len(a)):
        x, y = int(a[i]), int(b[i])
        while y:
            x, y = y, x % y
        total ^= x << (i & 7)
    return total


def collatz(n):
    longest = best = 0
    for start in range(1, n):
        x, steps = start, 0
        while x != 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            steps += 1
        if steps > longest:
            longest, best = steps, start
    return longest, best


def random_numbers(seed, count):
    out = np.zeros(count)
    for i in range(count):
        seed = (1103515245 * seed + 12345) & 0x7FFFFFFF
        out[i] = seed / 0x7FFFFFFF
    return seed, out


def monte_carlo(x, y):
    inside = 0
    for i in range(len(x)):
        if x[i] * x[i] + y[i] ** 2 <= 1.0:
            inside += 1
    return 4.0 * inside / len(x)


def hashes(data):
    h = 2166136261
    for i in range(len(data)):
        h = ((h ^ int(data[i])) * 16777619) & 0xFFFFFFFF
    return h


def two_sums(a, target):
    low, high = 0, len(a) - 1
    while low < high:
        s = a[low] + a[high]
        if s == target:
            return low, high
        if s < target:
            low += 1
        else:
            high -= 1
    return None


def kadane(a):
    best = here = a[0]
    begin = end = since = 0
    for i in range(1, len(a)):
        if here < 0:
            here, since = a[i], i
        else:
            here += a[i]
        if here > best:
            best, begin, end = here, since, i
    return best, begin, end


draws = np.random.default_rng(12)
TEXT, OTHER = draws.integers(97, 101, 14), draws.integers(97, 101, 11)
REALS, WHOLE = draws.normal(size=40), draws.integers(-9, 10, 40)
SQUARE = draws.random((6, 6)) + 6 * np.eye(6)
WEIGHTED = np.where(draws.random((6, 6)) < 0.5, draws.random((6, 6)).round(1), np.inf)

CASES = {
    lcs: [(TEXT, OTHER), (OTHER, TEXT[::-1]), (TEXT, TEXT), (TEXT[:0], OTHER), (REALS[:9], TEXT)],
    edit_distance: [(TEXT, OTHER), (OTHER, TEXT), (TEXT[::2], OTHER), (TEXT, OTHER[:1])],
    needleman_wunsch: [(TEXT, OTHER), (OTHER, OTHER), (TEXT[::-1], OTHER)],
    longest_increasing: [(REALS, 0), (WHOLE, 0), (REALS[::-1], 0), (REALS[:0], 0)],
    floyd_warshall: [(WEIGHTED,), (SQUARE,), (np.asfortranarray(WEIGHTED),), (WEIGHTED * np.nan,)],
    heat: [(REALS,), (WHOLE,), (REALS[:2],), (REALS * 1e300,)],
    gauss_seidel: [(SQUARE,), (SQUARE.T,), (SQUARE[:2],), (SQUARE[::-1],)],
    life: [(SQUARE > 0.5,), (SQUARE[:4] < 0.6,), (WHOLE.reshape(5, 8) % 2,)],
    ising: [(np.sign(WHOLE) | 1, WHOLE, draws.random(40)), (np.sign(WHOLE[:9]) | 1, WHOLE, draws.random(40))],
    mandelbrot: [(9, 30), (7, 11), (5, 3.5), (0, 9)],
    queens: [(4,), (5,), (1,), (6,)],
    sieve: [(120,), (200,), (2,), (1,)],
    bubble_sort: [
        (REALS,),
        (WHOLE,),
        (np.sort(REALS),),
        (REALS[::-2],),
        (np.where(WHOLE > 3, np.nan, REALS),),
    ],
    insertion_sort: [(REALS,), (WHOLE,), (WHOLE[::-1],), (WHOLE > 0,), (REALS[:1],)],
    shell_sort: [(REALS,), (WHOLE,), (REALS[3::3],)],
    searches: [(np.sort(WHOLE), WHOLE), (np.sort(REALS), REALS), (np.sort(WHOLE), REALS), (WHOLE[:0], WHOLE)],
    knapsack: [
        (abs(WHOLE[:8]) + 1, WHOLE[8:16], 30),
        (abs(WHOLE[:5]), WHOLE[5:10], 9),
        ([2, 3, 4], [3, 4, 6], 10),
    ],
    matrix_chain: [(abs(WHOLE[:8]) + 1,), (REALS[:8],), ([3, 5, 2, 9, 4, 7],)],
    flood_fill: [((SQUARE < 0.2).astype(int), 1, 1), (np.zeros((7, 7), int), 3, 3), (np.zeros((3, 9)), 0, 8)],
    cumulative: [(REALS,), (WHOLE,), (WHOLE << 58,), (WHOLE > 0,), (REALS * np.inf,)],
    moving_average: [(REALS, 4), (WHOLE, 3), (REALS[::-1], 1), (REALS, 41)],
    run_lengths: [(WHOLE // 4,), (REALS,), (WHOLE > 0,), (WHOLE[:0],)],
    histogram: [(REALS, 7), (WHOLE, 5), (REALS[:1], 4), (np.where(WHOLE > 7, np.nan, REALS), 4)],
    bresenham: [(1, 2, 20, 9), (20, 9, 1, 2), (3, 3, 3, 20), (5, 1, 30, 2)],
    convolve: [(REALS, REALS[:5]), (WHOLE, WHOLE[:3]), (REALS[::2], WHOLE[:4])],
    lu: [(SQUARE,), (SQUARE.T,), (np.zeros((4, 4)),), (WHOLE[:36].reshape(6, 6),)],
    cholesky: [(SQUARE @ SQUARE.T,), (np.eye(5),), (-np.eye(4),)],
    multiply: [(SQUARE, SQUARE), (SQUARE[:2], SQUARE.T), (WHOLE.reshape(8, 5), WHOLE.reshape(5, 8))],
    kalman: [(REALS,), (WHOLE,), (REALS * np.inf,)],
    logistic: [(0.3, 60), (0.5, 60), (1, 20), (np.float64(0.4), 50), (7.0, 30)],
    runge_kutta: [(1.0, 0.0, 60), (0, 1, 40), (np.float64(2.0), 0.5, 50), (1e200, -1e-200, 30)],
    walk: [(WHOLE,), (WHOLE[::-1],), (REALS,), ([3, 2, 1] * 12,)],
    viterbi: [(SQUARE[0, :3], SQUARE[:3, :3], SQUARE[:3], abs(WHOLE[:20]) % 6)] * 2,
    percolation: [(SQUARE > 0.3,), (SQUARE > 0.8,), (np.ones((5, 5)),)],
    newton: [(abs(REALS) * 9,), (abs(WHOLE) + 0.0,), (abs(WHOLE) + 1,), (REALS,)],
    gcds: [(abs(WHOLE), abs(WHOLE[::-1])), (WHOLE, WHOLE[::-1]), (REALS, WHOLE)],
    collatz: [(40,), (60,), (2,)],
    random_numbers: [(1, 60), (2**31 - 1, 50), (12.5, 3), (np.int64(7), 40)],
    monte_carlo: [(REALS, REALS[::-1]), (WHOLE, WHOLE), (REALS[:0], REALS)],
    hashes: [(TEXT,), (WHOLE,), (REALS,), (np.frombuffer(b"a text" * 9, "u1"),)],
    two_sums: [(np.sort(WHOLE), 3), (np.sort(WHOLE), 99), (np.sort(REALS), 0.25)],
    kadane: [(WHOLE,), (REALS,), (-abs(WHOLE),), (WHOLE[:0],), (np.where(WHOLE > 8, np.nan, REALS),)],
}


@pytest.mark.parametrize("fn", CASES, ids=lambda fn: fn.__name__)
def test_known_algorithms(fn):
    calls = CASES[fn]
    check_calls(fn, *calls, *calls, whole=False)
