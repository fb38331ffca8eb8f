"""Functions of AWS Lambda that a queue calls, killed and raising behind their commits, and what their tables hold.

made = lambdas.planted(40, rows_each=10, faults=0.05)
function = lambdas.written(code, folder, variables={"LAKE": …}, batch=5, concurrency=4)
delivery = lambdas.deliver(function, "handler", made.bodies)

messages    bodies with planted faults, and the truth of them
faults      what strikes a function behind its commit; it travels with the function's code
processes   the queue and its functions as processes of this machine
functions   the code of a function, here or in the stand-in of an AWS account
"""

from workbench_proofs.lambdas.functions import Delivery, Function, deliver, struck, written
from workbench_proofs.lambdas.messages import Planted, again, planted

__all__ = ["Delivery", "Function", "Planted", "again", "deliver", "planted", "struck", "written"]
