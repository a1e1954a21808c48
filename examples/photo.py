"""Develop a real photograph with plain NumPy: `python -m dyntrace examples/photo.py`.

The chain is one that photographers know: decode sRGB to linear light, balance the white, bend the
tones with a filmic curve, compensate the lens's vignette, raise the saturation and the local
contrast, encode again, and take the statistics of the result. Nothing here knows dyntrace; run by
plain `python`, the script does the same work at NumPy's speed.

The photograph is a portrait of Grace Hopper by the U.S. Navy, in the public domain, which ships in
matplotlib's wheel (`pip install ".[examples]"`). The script checks that every function returns
NumPy's exact bits, prints what was gained, and writes before.png and after.png.

An image is a float32 array of three planes (3, height, width), values 0 to 1. It carries a margin
of MARGIN pixels on every side, which the blur uses up.
"""

import argparse
import functools
import importlib.util
import runpy
import sys
import timeit
from pathlib import Path

import numpy as np
from PIL import Image

MARGIN = 2
RED, GREEN, BLUE = 0.2126, 0.7152, 0.0722  # luminance of the primaries, ITU-R BT.709


# --- the chain ----------------------------------------------------------------------------------


def to_linear(encoded):
    """Decode sRGB (IEC 61966-2-1) to linear light."""
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)


def to_srgb(linear):
    """Encode linear light as sRGB (IEC 61966-2-1)."""
    return np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)


def luminance(rgb):
    """Relative luminance, one plane."""
    return RED * rgb[0] + GREEN * rgb[1] + BLUE * rgb[2]


def white_balance(linear, gains, exposure):
    """Scale the primaries by `gains`, (3, 1, 1), without changing the brightness of a grey."""
    balanced = linear * (gains / (RED * gains[0] + GREEN * gains[1] + BLUE * gains[2]))
    return np.minimum(balanced * exposure, 8.0)


def tone_curve(linear, contrast, pivot):
    """A filmic curve: toe and shoulder by a quotient of two polynomials (K. Narkowicz, 2015)."""
    x = np.maximum(pivot + (linear - pivot) * contrast, 0.0)
    curve = (x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14)
    return np.clip(curve, 0.0, 1.0)


def vignette(rgb, y, x, strength):
    """Undo the fall of light to the corners, cos^4 of the angle to the axis (y, x: its tangent)."""
    tangent2 = (y * y + x * x) * strength
    return np.minimum(rgb * (1.0 + tangent2) * (1.0 + tangent2), 1.0)


def saturation(rgb, amount):
    """Move every colour away from the grey of its own luminance."""
    grey = luminance(rgb)
    return np.clip(grey + (rgb - grey) * amount, 0.0, 1.0)


def blur(plane):
    """A binomial blur of 5 by 5 pixels; the result lacks the margin."""
    rows = plane[:-4] + plane[4:] + 4.0 * (plane[1:-3] + plane[3:-1]) + 6.0 * plane[2:-2]
    both = (
        rows[:, :-4] + rows[:, 4:] + 4.0 * (rows[:, 1:-3] + rows[:, 3:-1]) + 6.0 * rows[:, 2:-2]
    )
    return both * (1.0 / 256.0)


def local_contrast(rgb, amount):
    """Unsharp mask on the luminance alone, held back in the shadows and in the lights."""
    luma = luminance(rgb)
    inner = luma[2:-2, 2:-2]
    detail = inner - blur(luma)
    room = 4.0 * inner * (1.0 - inner)
    gain = (inner + amount * room * detail) / (inner + 1e-4)
    return np.clip(rgb[:, 2:-2, 2:-2] * gain, 0.0, 1.0)


def develop(encoded, gains, y, x):
    """The whole chain, from sRGB to sRGB."""
    linear = white_balance(to_linear(encoded), gains, 0.8)
    linear = vignette(linear, y, x, 0.2)
    linear = tone_curve(linear, 0.97, 0.18)
    linear = saturation(linear, 1.15)
    return to_srgb(local_contrast(linear, 1.2))


def statistics(rgb):
    """Minimum, maximum, mean, RMS contrast, share of clipped pixels, and the mean of each plane."""
    luma = luminance(rgb).astype(np.float64)
    mean = luma.mean()
    contrast = np.sqrt(((luma - mean) ** 2).mean())
    clipped = ((luma <= 0.0) | (luma >= 0.999)).mean()
    return luma.min(), luma.max(), mean, contrast, clipped, rgb.mean(axis=(1, 2))


# --- the photograph -----------------------------------------------------------------------------


def find_photo():
    """The path of the photograph in matplotlib's wheel; matplotlib itself is not imported."""
    spec = importlib.util.find_spec("matplotlib")
    if spec is None:
        raise SystemExit('the photograph ships with matplotlib: pip install "dyntrace[examples]"')
    folder = Path(next(iter(spec.submodule_search_locations)))
    return folder / "mpl-data" / "sample_data" / "grace_hopper.jpg"


def load(path):
    """Read a photograph as planes with a mirrored margin."""
    pixels = np.asarray(Image.open(path).convert("RGB"), dtype=np.float32) / np.float32(255)
    planes = np.ascontiguousarray(pixels.transpose(2, 0, 1))
    return np.pad(planes, ((0, 0), (MARGIN, MARGIN), (MARGIN, MARGIN)), mode="reflect")


def save(planes, path):
    levels = (planes * np.float32(255) + np.float32(0.5)).astype(np.uint8)
    Image.fromarray(np.ascontiguousarray(levels.transpose(1, 2, 0))).save(path)


def axes(planes):
    """Coordinates of the rows and of the columns, from the centre, in half diagonals."""
    height, width = planes.shape[1:]
    half = np.hypot(height, width) / 2
    y = ((np.arange(height) - (height - 1) / 2) / half).astype(np.float32)
    x = ((np.arange(width) - (width - 1) / 2) / half).astype(np.float32)
    return y[:, np.newaxis], x[np.newaxis, :]


def size(planes):
    return f"{planes.shape[2] - 2 * MARGIN} x {planes.shape[1] - 2 * MARGIN}"


def same(left, right):
    """Equal in type, dtype, shape and every bit."""
    if isinstance(left, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    return (
        type(left) is type(right)
        and left.dtype == right.dtype
        and left.shape == right.shape
        and left.tobytes() == right.tobytes()
    )


# --- the run ------------------------------------------------------------------------------------

if __name__ == "__main__":  # no function of its own: what is called from here is called plainly
    parser = argparse.ArgumentParser(description="Develop a photograph with plain NumPy.")
    parser.add_argument("--photo", type=Path, help="another photograph than the one that ships")
    parser.add_argument("--out", type=Path, default=Path(), help="folder for the two PNG files")
    options = parser.parse_args()

    # The same file loaded again, by nobody but Python: its functions are NumPy's plain speed.
    plain = runpy.run_path(__file__, run_name="plain")
    full = load(options.photo or find_photo())
    gains = np.array([1.04, 1.0, 0.94], dtype=np.float32).reshape(3, 1, 1)
    print(f"photograph: {size(full)} pixels, float32")
    compiled = "dyntrace" in sys.modules
    print("compiled by dyntrace" if compiled else "run by plain Python: no gain to expect")
    print(f"\n{'':24}{'plain':>12}{'compiled':>12}{'gain':>9}   bits")

    wrong = []
    for title, planes in (("photograph", full), ("thumbnail", full[:, ::12, ::12].copy())):
        y, x = axes(planes)
        linear = plain["to_linear"](planes)
        steps = (
            (to_linear, (planes,)),
            (white_balance, (linear, gains, 0.8)),
            (vignette, (linear, y, x, 0.2)),
            (tone_curve, (linear, 0.97, 0.18)),
            (saturation, (linear, 1.15)),
            (local_contrast, (linear, 1.2)),
            (to_srgb, (linear,)),
            (statistics, (planes,)),
            (develop, (planes, gains, y, x)),
        )
        print(f"{title} {size(planes)}")
        for function, arguments in steps:
            name = function.__name__
            expected = plain[name](*arguments)
            equal = True
            for _ in range(12):  # plainly until it is hot, then compiled and plainly by turns
                equal = same(function(*arguments), expected) and equal
            if not equal:
                wrong.append(f"{name} ({title})")
            # The best of many, in turns, so that both see the same machine.
            fast = timeit.Timer(functools.partial(function, *arguments))
            slow = timeit.Timer(functools.partial(plain[name], *arguments))
            calls = max(1, int(0.02 / min(slow.repeat(3, 1))))
            turns = [(slow.timeit(calls), fast.timeit(calls)) for _ in range(12)]
            before, after = (min(times) / calls for times in zip(*turns, strict=True))
            label = "all of it in one" if function is develop else name
            print(
                f"  {label:22}{before * 1e3:9.3f} ms{after * 1e3:9.3f} ms{before / after:8.2f}x"
                f"   {'equal' if equal else 'DIFFERENT'}"
            )

    developed = develop(full, gains, *axes(full))
    low, high, mean, contrast, clipped, colour = statistics(developed)
    print(f"\nluminance {low:.3f} to {high:.3f}, mean {mean:.3f}, contrast {contrast:.3f}, "
          f"{clipped:.2%} clipped; mean colour {np.round(colour, 3)}")  # fmt: skip
    options.out.mkdir(parents=True, exist_ok=True)
    save(full[:, MARGIN:-MARGIN, MARGIN:-MARGIN], options.out / "before.png")
    save(developed, options.out / "after.png")
    print(f"written: {options.out / 'before.png'}, {options.out / 'after.png'}")
    if wrong:
        raise SystemExit(f"not NumPy's bits: {', '.join(wrong)}")
