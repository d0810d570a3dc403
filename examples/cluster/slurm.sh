#!/bin/bash
# A grid that the GPUs of two machines share, four on each: one process for each GPU, started by Slurm.
#
#     sbatch examples/cluster/slurm.sh
#
# Slurm numbers the processes; Tilescope reads the variables that PyTorch's launcher sets, too. NCCL (libnccl.so.2) moves
# values between the GPUs: it is found where the linker looks, in the Python environment that is active (nvidia-nccl), or
# where TILESCOPE_NCCL says. What it uses of the network is set by its own variables, such as NCCL_SOCKET_IFNAME.
#SBATCH --job-name=tilescope
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
#SBATCH --time=00:30:00

# Rank 0 runs on the first machine of the job and listens there; the port differs from job to job.
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
MASTER_PORT=$((20000 + SLURM_JOB_ID % 10000))
export MASTER_ADDR MASTER_PORT

# Rank 0 alone prints and saves. If one process fails, each of the others ends by itself within seconds; Slurm need not kill.
srun sh -c '
    export RANK=$SLURM_PROCID WORLD_SIZE=$SLURM_NTASKS LOCAL_RANK=$SLURM_LOCALID
    exec tilescope solve "$@"
' sh --shape 32768x32768 --k 32 --overlap 4 --tol 1e-4 --json
