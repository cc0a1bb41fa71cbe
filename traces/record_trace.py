"""Records a timed trace of a PyTorch model on one CUDA GPU, for Allreckon.

    from record_trace import write_trace
    write_trace("mymodel.csv", model, lambda: loss(model(images), labels), optimizer,
                batch=len(images), precision="fp16")

Run it without DistributedDataParallel. The time of a layer lasts until the next layer begins, so that
functions between modules count for the module before them. With in-place activations the backward
time of a layer and of its activation may be swapped between the two; their sum is right.
"""
import torch

def write_trace(path, model, loss_of_batch, optimizer, batch, precision, steps=20):
    marks, sizes, uses, total_ms = [], {}, {}, {}

    def mark(what, layer):  # the time from this mark to the next belongs to it
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        marks.append((event, (what, layer)))

    def after(output, layer):  # its gradient is there: the layer's backward pass begins
        if torch.is_tensor(output) and output.requires_grad:
            output.register_hook(lambda gradient: mark("backward", layer))

    def watch(name, module):
        def label():  # a module may run more than once in a step
            return name if uses[name] == 1 else f"{name}#{uses[name]}"
        def before(*_):
            uses[name] = uses.get(name, 0) + 1
            tensors = module.parameters(recurse=False) if uses[name] == 1 else []
            sizes[label()] = "+".join(str(p.numel()) for p in tensors if p.requires_grad)
            mark("forward", label())
        module.register_forward_pre_hook(before)
        module.register_forward_hook(lambda m, inputs, output: after(output, label()))

    for name, module in model.named_modules():
        if not list(module.children()):
            watch(name, module)
    for step in range(steps + 5):  # 5 to warm up
        uses.clear()
        marks.clear()
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of_batch()
        mark("backward", "loss")
        loss.backward()
        mark("optimizer", "")
        optimizer.step()
        mark("end", "")
        torch.cuda.synchronize()
        for (event, key), (following, _) in zip(marks, marks[1:]):
            if step >= 5:
                total_ms[key] = total_ms.get(key, 0) + event.elapsed_time(following)

    def seconds(what, layer):
        return f"{total_ms.get((what, layer), 0) / steps / 1e3:.9f}"
    with open(path, "w") as file:
        print(f"# batch = {batch}\n# precision = {precision}", file=file)
        print(f"# optimizer_s = {seconds('optimizer', '')}", file=file)
        print("layer,forward_s,backward_s,gradient_elements", file=file)
        for layer, tensors in {**sizes, "loss": ""}.items():
            print(layer, seconds("forward", layer), seconds("backward", layer), tensors,
                  sep=",", file=file)
