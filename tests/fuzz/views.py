"""Random chains of functions that may give an array itself, a view of it or a copy, with writes between them.

`python tests/fuzz/views.py --seed N --count M` runs as `arrays.py` does, which compares what can be seen:
whose memory a result is, and what the other names show after a write through one of them.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import array_programs  # noqa: E402
import arrays  # noqa: E402

# What `numpy` and arrays may give back; {a} is an array.
GIVEN = """
np.asfortranarray({a}); np.ascontiguousarray({a}); np.asarray({a}); np.asarray({a}, float)
np.asarray({a}, order='F'); np.asarray({a}, order='C'); np.asarray({a}, order='A')
np.asanyarray({a}); np.asanyarray({a}, {a}.dtype); np.array({a}, ndmin=3); np.array({a}, order='F')
np.require({a}, None, ['F', 'W']); np.require({a}, float, 'C'); {a}.ravel(); {a}.ravel('F')
{a}.ravel('K'); {a}.ravel('A'); {a}.flatten(); {a}.reshape(-1); {a}.reshape(-1, 1)
{a}.reshape(-1, order='F'); {a}.reshape({a}.shape); np.reshape({a}, {a}.shape[::-1]); {a}.squeeze()
np.atleast_1d({a}); np.atleast_2d({a}); np.atleast_3d({a}); {a}.T; {a}.transpose()
np.swapaxes({a}, 0, -1); np.moveaxis({a}, 0, -1); np.rollaxis({a}, {a}.ndim - 1); {a}.real; {a}.imag
np.real_if_close({a}); np.nan_to_num({a}, copy=False); np.expand_dims({a}, 0); {a}[None]; {a}[...]
{a}[()]; {a}[:]; {a}[::-1]; {a}[1:]; {a}[..., ::2]; {a}[..., 0]; {a}[0]; {a}[[0]]; {a}[{a} == {a}]
{a}.diagonal(); np.diag({a}); {a}.view(); {a}.view({a}.dtype); {a}.astype({a}.dtype, copy=False)
{a}.astype(float, copy=False); {a}.astype({a}.dtype, order='F', copy=False); np.flip({a})
np.rot90({a}); np.rot90({a}, 4); np.split({a}, 1)[0]; np.array_split({a}, 2)[0]
np.broadcast_arrays({a}, 1)[0]; np.broadcast_arrays({a})[0]; np.broadcast_to({a}, {a}.shape)
{a}.copy(); {a}.copy('F'); np.copy({a}); np.trim_zeros({a}); np.fft.fftshift({a}); np.roll({a}, 0)
np.tile({a}, 1); np.resize({a}, {a}.shape); np.take({a}, [0], 0); np.compress([True], {a}, 0); +{a}
np.where({a} == {a}, {a}, 0); np.positive({a}); {a}.conj(); np.conjugate({a}, out={a})
np.add({a}, 1, out={a}); np.clip({a}, 0, 5, out={a}); {a}.clip(0, 5); np.round({a}, 0, out={a})
{a}.round(); np.cumsum({a}, 0, out={a}); np.sort({a}, 0); np.sum({a}[None], 0); np.max({a}, axis=())
np.stack([{a}])[0]; np.concatenate([{a}]); np.vstack([{a}]); np.linalg.matrix_power({a}, 1)
np.einsum('...->...', {a}); np.einsum('ij->ji', {a}); np.block({a})
np.block([{a}]); np.delete({a}, []); np.insert({a}, [], 0); np.append({a}, []); np.pad({a}, 0)
np.diff({a}, 0); np.meshgrid({a}, copy=False)[0]
np.lib.stride_tricks.sliding_window_view({a}, 1, axis=0); np.partition({a}, 0, 0)
np.lib.stride_tricks.as_strided({a}); np.nonzero({a})[0]; np.unique({a}); np.choose([0], [{a}])
{a}.base; {a}.flat[:]; np.asarray_chkfinite({a}); [{a}][0]; {a}.__array__(); np.ma.getdata({a})
{a}.item(0); {a}[0] + 1; {a} + 1; {a} * 2
"""

WRITES = """
{a}.fill(11); {a} += 3; {a}[...] = 5; {a}[:1] = 7; {a} *= 2; {a}.flat = 4; {a}.flat[0] = 9
{a}.real = 2; np.add({a}, 1, out={a}); np.copyto({a}, 8); {a}[{a} > 2] = 1; {a}.sort(0)
np.put({a}, [0], 12); {a}.partition(0); np.fill_diagonal({a}, 3); np.place({a}, {a} > 1, [1])
{a}.T[:1] = 6; np.negative({a}, {a}); {a}[::-1][:1] -= 4; np.multiply.at({a}, 0, 3)
np.subtract({a}, {a}[::-1], out={a}); np.maximum({a}, 2, out={a}[...]); {a} -= {b}; {a}[...] = {b}
{a}[1:] = {b}[:-1]; np.add({a}, {b}, out={a}); np.multiply({a}, 2, out={b}); {a}[::-1] = {b}
{a}[{b} > 1] = 3; {a}[[0, 1]] = {b}[[1, 0]]; np.copyto({a}, {b}, where={b} > 1); {a}.T[...] = {b}
{a} *= {b}[::-1]; {a}[0], {a}[1] = {a}[1], {a}[0]; np.cumsum({a}, 0, out={b})
np.add.at({a}, [0, 0, 1], {b}[:3]); np.putmask({a}, {a} > 1, {b}); {a}[...] = {a}[::-1]
{a} += {a}.T; {a}.real += {b}; {a}[0] = {a}.sum(); {a}[None, ...] += 1
np.take({a}, [1, 0], 0, out={b}[:2])
"""


def texts(table):
    return [text.strip() for line in table.strip().splitlines() for text in line.split(";")]


GIVEN, WRITES = texts(GIVEN), texts(WRITES)


class Program(array_programs.Program):
    """Statements that may fail, each in a handler of its own."""

    def statement(self):
        name = f"v{len(self.body)}"
        array, other = self.random.choice(self.arrays), self.random.choice(self.arrays)
        if self.random.random() < 0.55:
            text = f"{name} = {self.random.choice(GIVEN).format(a=array)}"
            self.arrays.append(name)
        else:
            text = self.random.choice(WRITES).format(a=array, b=other)
        handler = "except Exception as error: errors.append(type(error).__name__)"
        self.body.append(f"try:\n        {text}\n    {handler}")
        return True


if __name__ == "__main__":
    sys.exit(arrays.main(Program, __doc__))
