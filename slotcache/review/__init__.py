"""The analysts' page: a queue of questions to look at, labels with author and time, answers to approve.

labels = LabelStore("labels.db")
queue = Queue(labels.database)
queue.take_in(numbered_records("traffic.db", after=0))
"""
