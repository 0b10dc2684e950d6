"""Labels beside points do not cover each other."""

from itertools import combinations

from isogloss.reports.labels import place_labels

FRAME = (0.0, 0.0, 290.0, 380.0)
SIZES = [(48.0, 11.0), (48.0, 11.0), (54.0, 11.0)]


def boxes(marks, offsets):
    """Left, bottom, right and top of each label; with a negative offset it ends left of its mark."""
    placed = []
    for (x, y), (across, up), (width, height) in zip(marks, offsets, SIZES, strict=True):
        left = x + across - (0 if across > 0 else width)
        placed.append((left, y + up, left + width, y + up + height))
    return placed


def overlap(one, other):
    """The area that two boxes share."""
    across = min(one[2], other[2]) - max(one[0], other[0])
    along = min(one[3], other[3]) - max(one[1], other[1])
    return max(0.0, across) * max(0.0, along)


def test_a_lone_label_stands_above_right_of_its_mark():
    assert place_labels([(100, 100)], [(40, 11)], lines=[], frame=FRAME) == [(3, 3)]


def test_labels_of_near_points_do_notoverlap():
    marks = [(102.0, 76.0), (119.0, 82.0), (113.0, 71.0)]
    placed = boxes(marks, place_labels(marks, SIZES, lines=[], frame=FRAME))
    assert [overlap(one, other) for one, other in combinations(placed, 2)] == [0, 0, 0]
    naive = boxes(marks, [(3, 3)] * 3)
    assert any(overlap(one, other) for one, other in combinations(naive, 2))


def test_a_label_stays_inside_the_frame_and_off_lines():
    assert place_labels([(285, 200)], [(40, 11)], lines=[], frame=FRAME)[0][0] < 0
    level = (60.0, 106.0, 140.0, 106.0)  # through the usual place of the label
    offset = place_labels([(100, 100)], [(40, 11)], lines=[level], frame=FRAME)[0]
    assert offset[1] < 0
